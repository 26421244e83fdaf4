// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The folder of the locks.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::LeaseError;

/// The folder unless the environment names another.
pub const DEFAULT_FOLDER: &str = "/run/lock/opweave";
/// The variable that names another.
pub const FOLDER_VARIABLE: &str = "OPWEAVE_LOCK_DIR";

/// A folder in which every user of the machine can lock.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// The folder that the environment names, or the machine's.
#[must_use]
pub fn folder() -> PathBuf {
    std::env::var_os(FOLDER_VARIABLE).filter(|v| !v.is_empty()).map_or_else(|| DEFAULT_FOLDER.into(), PathBuf::from)
}

impl Folder {
    /// Makes the folder if it is missing, writable by all and sticky, and tries whether a lock can be had there.
    ///
    /// # Errors
    /// [`LeaseError::Folder`].
    pub fn open(path: &Path) -> Result<Folder, LeaseError> {
        let refuse = |reason: String| LeaseError::Folder { path: path.to_owned(), reason };
        if !path.is_dir() {
            std::fs::create_dir_all(path).map_err(|e| refuse(e.to_string()))?;
            for_all(path, 0o1777).map_err(|e| refuse(e.to_string()))?;
        }
        let folder = Folder(path.to_owned());
        // A folder that cannot be written is found out here, not when the first device is wanted.
        drop(folder.gate()?);
        Ok(folder)
    }

    /// The path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Opens a file for locking, and makes it if it is missing.
    ///
    /// In a sticky folder the kernel refuses `O_CREAT` on another user's file, so an existing one is opened without it. A file
    /// that another user made may not be writable; a lock needs no more than an open file.
    pub(super) fn open_file(&self, name: &str) -> Result<File, LeaseError> {
        let path = self.file(name);
        let refuse = |e: std::io::Error| LeaseError::Folder { path: self.0.clone(), reason: format!("{name}: {e}") };
        loop {
            match OpenOptions::new().read(true).write(true).open(&path) {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) if e.kind() == ErrorKind::PermissionDenied => return File::open(&path).map_err(refuse),
                other => return other.map_err(refuse),
            }
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                // Another made it in between.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(refuse(e)),
                Ok(file) => {
                    // Whatever this user's umask says, others lock here too.
                    for_all(&path, 0o666).map_err(refuse)?;
                    return Ok(file);
                }
            }
        }
    }

    /// Held for the moment of one attempt, so that of two who want several devices one gets all.
    pub(super) fn gate(&self) -> Result<File, LeaseError> {
        let gate = self.open_file("gate.lock")?;
        gate.lock().map_err(|e| LeaseError::Folder { path: self.0.clone(), reason: format!("no locks: {e}") })?;
        Ok(gate)
    }
}

#[cfg(unix)]
fn for_all(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn for_all(_: &Path, _: u32) -> std::io::Result<()> {
    Ok(())
}
