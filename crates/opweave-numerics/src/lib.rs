// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The proof that a kernel computes what its contract says.
//!
//! One suite per operator serves validation, benchmark and sanitiser runs alike: a list of cases, each with a problem,
//! dimensions and scalars. The harness draws the inputs from named streams ([`input`]), computes the f64 reference, runs an
//! implementation on poisoned outputs between guard bands, and compares by one table of tolerances ([`compare`]). A run
//! ends in a [`report`] with a closed set of verdicts ([`verdict`]).
//!
//! Four entries:
//!
//! - [`run()`] validates what a [`Config`] asks for (the options of `opweave numerics`) on a [`Ground`]: a frozen registry,
//!   the suites ([`suites::builtin`] and any that another crate adds), a device, and an [`Interrupt`]. The [`Report`] is
//!   written while the run goes on; its status gives the exit code, and so does a [`RunError`].
//! - [`distributed::run`] does the same on several ranks at once.
//! - [`plan()`] says what a run would do, from metadata alone; [`suite::SuiteSet`] lists suites, their arguments and cases
//!   without a device.
//! - [`harness`] is what a benchmark builds on: [`suite::DynCase::fixture`], then [`harness::PreparedSource::prepare`], gives
//!   a [`harness::PreparedCase`] that validates, launches, resets, and has twins on memory of their own.

pub mod codec;
pub mod compare;
pub mod config;
pub mod distributed;
pub mod harness;
pub mod host;
pub mod input;
mod number;
pub mod progress;
pub mod report;
mod run;
pub mod suite;
// Built into the unit tests once more, the operators' suites would double what this crate costs to compile.
#[cfg(not(test))]
pub mod suites;
pub mod verdict;

pub use config::{Config, Mode, Tier};
pub use number::Number;
pub use progress::{Interrupt, Progress, Silent};
pub use report::Report;
pub use run::{Ground, PlannedCase, PlannedOperation, RunError, Task, plan, run};
pub use verdict::{Counts, Verdict};
