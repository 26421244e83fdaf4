// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Running a sweep: one process for each row, watched, ended by its deadline, and never left behind.

mod attempt;
mod child;
mod drive;
mod leash;
#[cfg(test)]
mod tests;

pub use attempt::{Known, Worker};
pub use child::{Child, Ended, GRACE};
pub use drive::{Config, Ground, Outcome, Progress, Quiet, RunError, next_id, run};
pub use leash::hold_leash;
