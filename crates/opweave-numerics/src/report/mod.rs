// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The numerics report: what was validated, against what, where, and how it came out.
//!
//! JSON is the record; Markdown is a reading of it. The JSON Schema is committed at
//! `docs/schemas/numerics-report.schema.json` and a test compares it with these types. A report is written while the run
//! goes on, each time to a temporary file that is renamed over the last one; so a killed run leaves a whole report with
//! status `incomplete`.

mod environment;
mod file;
mod markdown;
mod model;
mod ranks;

pub use environment::{DeviceEnvironment, Environment, HostEnvironment, IMAGE, LIBRARY, LibraryVersion, compiler};
pub use file::{ReportError, ReportFile, read, write_atomically};
pub use markdown::markdown;
pub use model::{
    CaseReport, Considered, ConsideredVerdict, Finding, FindingKind, Implementation, InputOrigin, OperationReport,
    Report, SCHEMA_VERSION, Selection, Settings, Status,
};
pub use ranks::{Distributed, RankProcess, RankVerdict, rank_path};

/// The JSON Schema of a report.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Report).to_value()
}

#[cfg(test)]
mod tests;
