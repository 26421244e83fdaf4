// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Benchmarks of single operators.
//!
//! The path of a number: [`protocol`] turns budgets into counts and an order, [`sampler`] takes the samples,
//! [`measurement`] ties them to what was timed, [`samples`] keeps every one in little space, [`ceilings`] says what the device reaches at most, [`mod@report`] keeps
//! all of it, and [`mod@compare`] judges two runs. Only a case that passed validation is timed.

pub mod caches;
pub mod ceilings;
pub mod compare;
pub mod instruments;
mod kernels;
pub mod measurement;
pub mod protocol;
mod replay;
pub mod report;
pub mod run;
pub mod sampler;
pub mod samples;
pub mod stats;
