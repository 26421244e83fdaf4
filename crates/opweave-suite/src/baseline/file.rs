// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The file.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::record::{RecordError, Row, Run, SCHEMA_VERSION, check_text, validate_rows};

/// What the file says it is.
pub const BASELINE_KIND: &str = "suite_baseline";

/// What to do with a run where a baseline is needed.
const HINT: &str = "; `opweave promote` makes one of a run";

/// The device of a baseline: what makes times comparable, not which of several alike it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Product name.
    pub name: String,
    /// What selection knows of it.
    pub key: String,
    /// Threads of a CPU.
    pub threads: Option<usize>,
    /// Driver.
    pub driver: Option<String>,
}

impl Device {
    /// The device of a run.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let Run { device, threads, driver, .. } = run;
        Device { name: device.name.clone(), key: device.key.clone(), threads: *threads, driver: driver.clone() }
    }
}

/// Rows that later runs are held to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of the format.
    pub schema_version: u32,
    /// [`BASELINE_KIND`].
    pub kind: String,
    /// The device.
    pub device: Device,
    /// One row for each case, as in a run but without single samples.
    pub rows: Vec<Row>,
}

impl Baseline {
    /// A run in the place of a baseline: to compare two runs.
    #[must_use]
    pub fn of(run: &Run) -> Self {
        let (kind, device) = (BASELINE_KIND.to_owned(), Device::of(run));
        Baseline { schema_version: SCHEMA_VERSION, kind, device, rows: run.rows.clone() }
    }
}

/// The same with the bytes of each row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    #[serde(rename = "schema_version")]
    _schema_version: u32,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "device")]
    _device: Device,
    pub(super) rows: Vec<Box<RawValue>>,
}

/// Reads a baseline and refuses it if a number in it cannot be a measurement.
///
/// # Errors
/// [`RecordError`].
pub fn read_baseline(path: &Path) -> Result<Baseline, RecordError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    parse_baseline(path, &text)
}

/// The same of a text that came from `path`, at some revision.
///
/// # Errors
/// [`RecordError`].
pub fn parse_baseline(path: &Path, text: &str) -> Result<Baseline, RecordError> {
    check_text(path, text, BASELINE_KIND, HINT)?;
    let baseline: Baseline =
        serde_json::from_str(text).map_err(|source| RecordError::Format { path: path.to_owned(), source })?;
    validate_rows(&baseline.rows).map_err(|source| RecordError::Invalid { path: path.to_owned(), source })?;
    Ok(baseline)
}

/// The bytes of each row of a text that [`parse_baseline`] accepted.
pub(super) fn raw(path: &Path, text: &str) -> Result<Raw, RecordError> {
    serde_json::from_str(text).map_err(|source| RecordError::Format { path: path.to_owned(), source })
}

/// A baseline's text: one row in a line, so that a diff shows which rows moved.
pub(super) fn text(device: &Device, rows: &[String]) -> Result<String, serde_json::Error> {
    let device = serde_json::to_string(device)?;
    let rows = rows.join(",\n");
    Ok(format!(
        "{{\n\"schema_version\": {SCHEMA_VERSION},\n\"kind\": \"{BASELINE_KIND}\",\n\"device\": {device},\n\"rows\": [\n{rows}\n]\n}}\n"
    ))
}
