// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a run tells while it runs. The library says what happens; the binary draws it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::report::CaseReport;

/// Receives the course of a run. Every method has an empty default.
pub trait Progress {
    /// The run begins and will judge this many cases (a case counts once for each implementation).
    fn started(&mut self, _cases: usize) {}
    /// An operation's cases begin.
    fn operation(&mut self, _operation: &str, _cases: usize) {}
    /// A case begins.
    fn case(&mut self, _operation: &str, _label: &str, _implementation: &str) {}
    /// A case has its verdict.
    fn judged(&mut self, _operation: &str, _case: &CaseReport) {}
    /// Something that is not a verdict and that a user should know, such as an override that was ignored.
    fn note(&mut self, _text: &str) {}
    /// The run is over, interrupted or not.
    fn finished(&mut self) {}
}

/// Progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// A request to stop, shared with whoever catches the signal. A run asks between calls; the case in progress is dropped,
/// the report is written with status `interrupted`.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the run to stop. May be called from a signal handler's thread.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
