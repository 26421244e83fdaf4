// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Workload files: what a benchmark sweep measures, as data.
//!
//! `suites/<family>/<kernel>.toml` names cases of the operator's suite by their labels and says how they are timed. Every
//! operator has one. All of it can be checked without a device, before anything is timed.

mod check;
mod file;
mod flat;
mod sweep;
#[cfg(test)]
mod tests;

pub use check::{Choose, Finding, check, families};
pub use file::{Config, Defaults, Entry, Workload, WorkloadError, parse, read_tree};
pub use flat::flat;
pub use sweep::{Filter, Shard, Sweep, SweepError, sweep};
