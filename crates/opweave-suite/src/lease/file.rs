// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The lock of one device.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Folder, LeaseError};

/// A lock that is held.
#[derive(Debug)]
pub(super) struct LockFile {
    device: String,
    file: File,
}

pub(super) enum Attempt {
    Taken(LockFile),
    /// Who holds it, in words.
    Held(String),
}

impl LockFile {
    /// Tries to take the lock of a device, and writes down who has it.
    pub(super) fn attempt(folder: &Folder, device: &str) -> Result<Attempt, LeaseError> {
        let name = file_name(device);
        let mut file = folder.open_file(&name)?;
        match file.try_lock() {
            Ok(()) => {
                note(&mut file);
                Ok(Attempt::Taken(LockFile { device: device.to_owned(), file }))
            }
            Err(TryLockError::WouldBlock) => Ok(Attempt::Held(format!("held by {}", read_note(&mut file)))),
            Err(TryLockError::Error(e)) => {
                let path = folder.file("");
                Err(LeaseError::Folder { path, reason: format!("lock {name}: {e}") })
            }
        }
    }

    pub(super) fn device(&self) -> &str {
        &self.device
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // The note goes first; closing the file frees the lock.
        let _ = self.file.set_len(0);
    }
}

/// A file name that keeps identities apart: everything but letters, digits and `-` is written as its code.
pub(super) fn file_name(device: &str) -> String {
    let mut name = String::new();
    for c in device.chars() {
        if c.is_ascii_alphanumeric() || c == '-' { name.push(c) } else { name.push_str(&format!("_{:x}_", c as u32)) }
    }
    name + ".lock"
}

/// This process, for whoever waits. That the note cannot be written takes nothing from the lock.
pub(super) fn note(file: &mut File) {
    let user =
        std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "an unknown user".to_owned());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let text = format!("process {} of {user} on {} since {since}\n", std::process::id(), host.trim());
    let written =
        file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        tracing::debug!(%error, "the holder's note cannot be written");
    }
}

/// The holder in words: what its note says, which may be nothing.
pub(super) fn read_note(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(400).read_to_string(&mut text));
    let Some((who, since)) = text.trim().rsplit_once(" since ") else { return "another process".to_owned() };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    match since.parse::<u64>() {
        Ok(since) => format!("{who} for {} s", now.saturating_sub(since)),
        Err(_) => "another process".to_owned(),
    }
}
