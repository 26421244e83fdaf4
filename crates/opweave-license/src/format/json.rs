// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! For machines.

use schemars::JsonSchema;
use serde::Serialize;

use crate::finding::Finding;
use crate::lint::Report;

/// Version of the JSON report. Its schema is `docs/schemas/license-report.schema.json`.
pub const SCHEMA_VERSION: u32 = 1;

/// The report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JsonReport {
    /// Version of this format.
    pub schema_version: u32,
    /// What wrote it.
    pub tool: &'static str,
    /// Its version.
    pub tool_version: &'static str,
    /// The policy file.
    pub policy: String,
    /// How many files and links were looked at.
    pub files: usize,
    /// Whether nothing must be mended.
    pub clean: bool,
    /// What was found, sorted by path, line, column and rule.
    pub findings: Vec<Finding>,
}

/// The report of a run.
#[must_use]
pub fn json(report: &Report, policy: &str) -> JsonReport {
    JsonReport {
        schema_version: SCHEMA_VERSION,
        tool: "opweave license",
        tool_version: env!("CARGO_PKG_VERSION"),
        policy: policy.to_owned(),
        files: report.files,
        clean: report.is_clean(),
        findings: report.findings.clone(),
    }
}
