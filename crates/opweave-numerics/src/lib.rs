// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The proof that a kernel computes what its contract says.
//!
//! One suite per operator serves validation, benchmark and sanitiser runs alike: a list of cases, each with a problem,
//! dimensions and scalars, inputs drawn from named streams ([`input`]), an f64 reference and a tolerance from one table
//! ([`compare`]). A run ends in a [`report`] with a closed set of verdicts ([`verdict`]).

pub mod codec;
pub mod compare;
pub mod config;
pub mod host;
pub mod input;
mod number;
pub mod progress;
pub mod report;
pub mod verdict;

pub use config::{Config, Mode, Tier};
pub use number::Number;
pub use progress::{Interrupt, Progress, Silent};
pub use report::Report;
pub use verdict::{Counts, Verdict};
