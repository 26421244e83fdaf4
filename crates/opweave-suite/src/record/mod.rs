// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a run leaves: `.opweave/runs/<id>.json`, written whole after each row.

mod file;
mod from_bench;
mod merge;
mod model;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
mod validate;

pub(crate) use file::check_text;
pub use file::{RecordError, kind_of, read_run, write_run};
pub use from_bench::{Provenance, fill};
pub use merge::{MergeError, merge_shards};
pub use model::{Attempt, Impl, Planned, RUN_KIND, Row, Run, RunState, SCHEMA_VERSION, Status};
pub use validate::{Invalid, validate_row, validate_rows};

/// The JSON Schema of a run, as committed.
#[must_use]
pub fn run_schema() -> serde_json::Value {
    schemars::schema_for!(Run).to_value()
}
