// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Those who wait. Who wants more devices comes first, or many small leases would keep a large one out for ever; of two that
//! want as many, the one that came first.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Folder, LeaseError};

const PREFIX: &str = "waiting-";

/// A place among those who wait. It is a locked file, so whoever dies waits no longer.
pub(super) struct Place {
    path: PathBuf,
    name: String,
    rank: Rank,
    devices: Vec<String>,
    _file: File,
}

/// Larger first, then earlier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    fewer: usize,
    since_ns: u128,
    name: String,
}

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Place {
    pub(super) fn take(folder: &Folder, devices: &[String]) -> Result<Place, LeaseError> {
        let _gate = folder.gate()?;
        let name = format!("{PREFIX}{}-{}.lock", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = folder.file(&name);
        let refuse = |e: std::io::Error| LeaseError::Folder { path: path.clone(), reason: e.to_string() };
        let mut file = folder.open_file(&name)?;
        file.lock().map_err(refuse)?;
        let since_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let text = format!("{since_ns}\n{}\n", devices.join("\n"));
        let written =
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(text.as_bytes()));
        written.map_err(refuse)?;
        let rank = Rank { fewer: usize::MAX - devices.len(), since_ns, name: name.clone() };
        Ok(Place { path, name, rank, devices: devices.to_vec(), _file: file })
    }

    /// Who comes before this one and wants one of its devices. The gate is held.
    pub(super) fn before(&self, folder: &Folder) -> Result<Option<(String, String)>, LeaseError> {
        let root = folder.file("");
        let refuse = |e: std::io::Error| LeaseError::Folder { path: root.clone(), reason: e.to_string() };
        for entry in std::fs::read_dir(&root).map_err(refuse)? {
            let name = entry.map_err(refuse)?.file_name().to_string_lossy().into_owned();
            if !name.starts_with(PREFIX) || name == self.name {
                continue;
            }
            // One that was removed in between waits no longer.
            let Ok(mut file) = File::open(folder.file(&name)) else { continue };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                Ok(()) => {
                    // Its process is gone.
                    let _ = std::fs::remove_file(folder.file(&name));
                    continue;
                }
                Err(TryLockError::Error(_)) => continue,
            }
            let mut text = String::new();
            if file.read_to_string(&mut text).is_err() {
                continue;
            }
            let mut lines = text.lines();
            let Some(since_ns) = lines.next().and_then(|line| line.parse().ok()) else { continue };
            let wanted: Vec<&str> = lines.collect();
            let rank = Rank { fewer: usize::MAX - wanted.len(), since_ns, name: name.clone() };
            let shared = self.devices.iter().find(|device| wanted.contains(&device.as_str()));
            if let Some(device) = shared.filter(|_| rank < self.rank) {
                let process = name.trim_start_matches(PREFIX).split('-').next().unwrap_or_default();
                return Ok(Some((
                    device.clone(),
                    format!("process {process} waits for {} devices and comes first", wanted.len()),
                )));
            }
        }
        Ok(None)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
