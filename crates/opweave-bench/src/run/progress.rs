// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a benchmark tells while it runs.

use crate::report::Row;

/// Receives the course of a run. Every method has an empty default.
pub trait BenchProgress {
    /// The run begins and has this many cases.
    fn started(&mut self, _cases: usize) {}
    /// A case begins, on these implementations.
    fn case(&mut self, _operation: &str, _label: &str, _implementations: &str) {}
    /// A part of the case begins: `validate`, `cold`, `hot`.
    fn part(&mut self, _part: &str) {}
    /// The case is done.
    fn done(&mut self, _rows: &[Row]) {}
    /// The run is over, interrupted or not.
    fn finished(&mut self) {}
}

/// Progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl BenchProgress for Quiet {}
