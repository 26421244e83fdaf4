// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What later runs are held to: `suites/baseline/<device>.json`.
//!
//! A baseline is promoted from a run, never copied: the formats differ, and so do the conditions. [`judge`] holds a run to it.

mod file;
mod judge;
mod markdown;
mod promote;
#[cfg(test)]
mod tests;

pub use file::{BASELINE_KIND, Baseline, Device, parse_baseline, read_baseline};
pub use judge::{Difference, Entry, Judgement, Options, Refusal, Verdict, judge, render};
pub use markdown::markdown;
pub use promote::{PromoteError, promote};

/// The JSON Schema of a baseline, as committed.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Baseline).to_value()
}

/// The JSON Schema of a judgement, as committed.
#[must_use]
pub fn judgement_schema() -> serde_json::Value {
    schemars::schema_for!(Judgement).to_value()
}
