// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reports on disk: written whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Report, SCHEMA_VERSION, markdown};

/// How often a running report is written at most. The file grows with the run, so writing after each case would take a
/// time quadratic in their number.
const INTERVAL: Duration = Duration::from_millis(500);

/// Why a report cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The system refused.
    #[error("report {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// Not a report of this format.
    #[error("report {path} is not a numerics report of schema_version {SCHEMA_VERSION}: {reason}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Writes `bytes` to a temporary file beside `path` and renames it over `path`. The folder is made if it is missing.
///
/// # Errors
/// [`ReportError::Io`].
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let write = || {
        // A bare file name has the empty path as its parent.
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let mut file = temporary().tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| ReportError::Io { path: path.to_owned(), source })
}

/// A temporary file that, once renamed, is as readable as any other file of its user.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less whatever the umask takes away.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

/// A report's place on disk during a run.
#[derive(Debug)]
pub struct ReportFile {
    path: Option<PathBuf>,
    written: Option<Instant>,
}

impl ReportFile {
    /// A report at `path`; with `None` nothing is ever written.
    pub fn new(path: Option<PathBuf>) -> ReportFile {
        ReportFile { path, written: None }
    }

    /// Writes the report as it stands, unless that was done a moment ago.
    ///
    /// # Errors
    /// [`ReportError::Io`].
    pub fn update(&mut self, report: &Report) -> Result<(), ReportError> {
        if self.path.is_none() || self.written.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(());
        }
        self.json(report)?;
        self.written = Some(Instant::now());
        Ok(())
    }

    /// Writes the finished report, JSON and Markdown.
    ///
    /// # Errors
    /// [`ReportError::Io`].
    pub fn finish(&mut self, report: &Report) -> Result<(), ReportError> {
        self.json(report)?;
        match &self.path {
            Some(path) => write_atomically(&path.with_extension("md"), markdown(report).as_bytes()),
            None => Ok(()),
        }
    }

    fn json(&self, report: &Report) -> Result<(), ReportError> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut bytes = serde_json::to_vec_pretty(report)
            .map_err(|error| ReportError::Io { path: path.clone(), source: error.into() })?;
        bytes.push(b'\n');
        write_atomically(path, &bytes)
    }
}

/// Reads a report.
///
/// # Errors
/// [`ReportError`] for a file that cannot be read, is no numerics report, or has another schema version.
pub fn read(path: &Path) -> Result<Report, ReportError> {
    let format = |reason: String| ReportError::Format { path: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|source| ReportError::Io { path: path.to_owned(), source })?;
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| format(error.to_string()))?;
    match value.get("schema_version") {
        Some(version) if version == SCHEMA_VERSION => {}
        Some(version) => return Err(format(format!("schema_version is {version}"))),
        None => return Err(format("schema_version is missing".to_owned())),
    }
    serde_json::from_value(value).map_err(|error| format(error.to_string()))
}
