// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading and writing the record.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{BenchReport, Invalid, SCHEMA_VERSION, validate};

/// A report that cannot be read or written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The file system refused.
    #[error("read report {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("write {0}")]
    Write(#[from] opweave_numerics::report::ReportError),
    /// Not a report of this format.
    #[error("read report {}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause, with line and column.
        source: serde_json::Error,
    },
    /// Another version of the format.
    #[error("read report {}: schema_version is {found}, this build reads {SCHEMA_VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version found, or that there is none.
        found: String,
    },
    /// Numbers that cannot be judged.
    #[error("read report {}: {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong where.
        source: Invalid,
    },
}

/// Reads a report and refuses it if its version differs or a number in it cannot be a measurement.
///
/// # Errors
/// See [`ReportError`]. A missing, zero, negative or non-finite time is an error here, so that no comparison downstream
/// can be decided by a NaN.
pub fn read(path: &Path) -> Result<BenchReport, ReportError> {
    let unread = |source| ReportError::Read { path: path.to_owned(), source };
    let format = |source| ReportError::Format { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unread)?;
    // The version comes first: the fields of another version would only give a confusing error.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(format)?;
    let found = value.get("schema_version");
    if found.and_then(serde_json::Value::as_u64) != Some(u64::from(SCHEMA_VERSION)) {
        let found = found.map_or_else(|| "missing".to_owned(), ToString::to_string);
        return Err(ReportError::Version { path: path.to_owned(), found });
    }
    let report: BenchReport = serde_json::from_str(&text).map_err(format)?;
    validate(&report).map_err(|source| ReportError::Invalid { path: path.to_owned(), source })?;
    Ok(report)
}

/// Writes a report as JSON so that a reader finds the old file or the whole new one, never a part.
///
/// # Errors
/// The folder cannot be made or written.
pub fn write(report: &BenchReport, path: &Path) -> Result<(), ReportError> {
    let mut bytes =
        serde_json::to_vec(report).map_err(|source| ReportError::Format { path: path.to_owned(), source })?;
    bytes.push(b'\n');
    Ok(opweave_numerics::report::write_atomically(path, &bytes)?)
}
