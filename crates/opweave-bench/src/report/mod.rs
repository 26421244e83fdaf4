// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The bench report: what was timed, how, on what, and what came out.
//!
//! JSON is the record; Markdown and the terminal table are readings of it. The schema is committed at
//! `docs/schemas/bench-report.schema.json` and a test compares it with these types.

mod file;
mod markdown;
mod model;
mod numbers;
mod table;
mod validate;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use file::{ReportError, read, write};
pub use markdown::markdown;
pub use model::{Against, BenchReport, CacheSizes, Row, RowStatus, RunStatus, Series, Work};
pub use numbers::{share, us};
pub use table::table;
pub(crate) use table::{LINES, why_not};
pub use validate::{Invalid, validate};

/// Version of the report's format. A reader refuses every other.
pub const SCHEMA_VERSION: u32 = 2;

/// The JSON Schema of [`BenchReport`], as committed.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(BenchReport).to_value()
}
