// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading and writing runs.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Invalid, RUN_KIND, Run, SCHEMA_VERSION, validate_rows};

/// A file that is no run, or cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file system refused.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Not this format.
    #[error("read {}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause, with line and column.
        source: serde_json::Error,
    },
    /// Another kind of file.
    #[error("read {}: it is `{found}`, a `{wanted}` is needed{hint}", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// What it says it is.
        found: String,
        /// What was needed.
        wanted: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// Another version.
    #[error("read {}: schema_version is {found}, this build reads {SCHEMA_VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// Numbers that cannot be judged.
    #[error("read {}: {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong where.
        source: Invalid,
    },
    /// It cannot be written.
    #[error("write {0}")]
    Write(#[from] opweave_numerics::report::ReportError),
}

/// What a JSON file says it is, if it is one of the suite's.
#[must_use]
pub fn kind_of(path: &Path) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    Some(value.get("kind")?.as_str()?.to_owned())
}

/// Text of a file of the suite, after kind and version were found right: the fields of another version would only give a
/// confusing error.
pub(crate) fn checked(path: &Path, wanted: &'static str, hint: &'static str) -> Result<String, RecordError> {
    let text = std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    check_text(path, &text, wanted, hint)?;
    Ok(text)
}

/// See [`checked`].
pub(crate) fn check_text(path: &Path, text: &str, wanted: &'static str, hint: &'static str) -> Result<(), RecordError> {
    let path = path.to_owned();
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|source| RecordError::Format { path: path.clone(), source })?;
    let word = |key: &str| {
        value.get(key).map_or_else(|| "missing".to_owned(), |v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
    };
    let kind = word("kind");
    if kind != wanted {
        let found = if kind == "missing" { "no file of the suite".to_owned() } else { kind };
        return Err(RecordError::Kind { path, found, wanted, hint });
    }
    if value.get("schema_version").and_then(serde_json::Value::as_u64) != Some(u64::from(SCHEMA_VERSION)) {
        return Err(RecordError::Version { path, found: word("schema_version") });
    }
    Ok(())
}

/// Reads a run and refuses it if a number in it cannot be a measurement.
///
/// # Errors
/// [`RecordError`].
pub fn read_run(path: &Path) -> Result<Run, RecordError> {
    let text = checked(path, RUN_KIND, "")?;
    let run: Run =
        serde_json::from_str(&text).map_err(|source| RecordError::Format { path: path.to_owned(), source })?;
    validate_rows(&run.rows).map_err(|source| RecordError::Invalid { path: path.to_owned(), source })?;
    Ok(run)
}

/// Writes a run: a reader finds the old file or the new one.
///
/// # Errors
/// [`RecordError::Write`].
pub fn write_run(run: &Run, path: &Path) -> Result<(), RecordError> {
    let mut bytes = serde_json::to_vec(run).map_err(|source| RecordError::Format { path: path.to_owned(), source })?;
    bytes.push(b'\n');
    Ok(opweave_numerics::report::write_atomically(path, &bytes)?)
}
