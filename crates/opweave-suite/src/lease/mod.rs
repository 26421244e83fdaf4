// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Leases: who measures on a device measures alone.
//!
//! A lease is an advisory lock of the kernel on a file that is named by the device's identity, in a folder that all users of
//! the machine share. The kernel frees it when its holder is gone, however it went. Several devices are leased all at once or
//! not at all, in sorted order, and of those who wait the one that wants most comes first.

mod file;
mod folder;
mod queue;
#[cfg(test)]
mod tests;

pub use folder::{DEFAULT_FOLDER, FOLDER_VARIABLE, Folder, folder};

use std::path::PathBuf;
use std::time::{Duration, Instant};

use opweave_numerics::Interrupt;
use thiserror::Error;

use file::{Attempt, LockFile};
use queue::Place;

/// How often a lease that is held by another is tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// Why there is no lease.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The folder cannot be made or used: two suites would not see each other.
    #[error(
        "use the lock folder {}: {reason}; name another with {FOLDER_VARIABLE}, or go without a lease (--no-lease): such a run is \
         marked and cannot be promoted",
        path.display()
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another holds it, and the limit has passed.
    #[error("lease {device} within {limit_s} s: {holder}")]
    Held {
        /// The device's identity.
        device: String,
        /// Who holds it, or who comes first.
        holder: String,
        /// The limit that passed.
        limit_s: u64,
    },
    /// The wait was cancelled.
    #[error("lease {device}: cancelled while {holder}")]
    Cancelled {
        /// The device's identity.
        device: String,
        /// Who holds it.
        holder: String,
    },
}

/// Devices that are held. Dropping it frees them.
#[derive(Debug)]
pub struct Lease {
    held: Vec<LockFile>,
}

impl Lease {
    /// What is held, sorted.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        self.held.iter().map(LockFile::device)
    }
}

/// Leases all of `devices` (identities, in any order), waiting up to `limit` for others. `waiting` hears who is in the way,
/// each time that it is another.
///
/// # Errors
/// [`LeaseError`]; then nothing is held.
pub fn lease(
    folder: &Folder,
    devices: &[String],
    limit: Duration,
    stop: &Interrupt,
    waiting: &mut dyn FnMut(&str),
) -> Result<Lease, LeaseError> {
    let mut devices = devices.to_vec();
    devices.sort();
    devices.dedup();
    let place = Place::take(folder, &devices)?;
    let start = Instant::now();
    let mut told = String::new();
    loop {
        let (device, holder) = match attempt(folder, &devices, &place)? {
            Ok(held) => return Ok(Lease { held }),
            Err(blocked) => blocked,
        };
        // How long it has been held says nothing new.
        let who = holder.rsplit_once(" for ").map_or(holder.as_str(), |(who, _)| who);
        if who != told {
            waiting(&format!("{device}: {holder}"));
            told = who.to_owned();
        }
        if stop.requested() {
            return Err(LeaseError::Cancelled { device, holder });
        }
        if start.elapsed() >= limit {
            return Err(LeaseError::Held { device, holder, limit_s: limit.as_secs() });
        }
        std::thread::sleep(AGAIN);
    }
}

type Blocked = (String, String);

/// One attempt at all of them, while nobody else attempts.
fn attempt(folder: &Folder, devices: &[String], place: &Place) -> Result<Result<Vec<LockFile>, Blocked>, LeaseError> {
    let _gate = folder.gate()?;
    if let Some((device, who)) = place.before(folder)? {
        return Ok(Err((device, who)));
    }
    let mut held = Vec::new();
    for device in devices {
        match LockFile::attempt(folder, device)? {
            Attempt::Taken(lock) => held.push(lock),
            // Those taken so far are freed again: all or nothing.
            Attempt::Held(holder) => return Ok(Err((device.clone(), holder))),
        }
    }
    Ok(Ok(held))
}
