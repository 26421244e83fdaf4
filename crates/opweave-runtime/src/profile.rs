// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The measured profile: which validated implementation was fastest, and the evidence for it.
//!
//! A profile is bound to a digest of the registry, the kernel images, the driver and the library versions. A stale one is
//! refused, visibly, and selection goes on by rank.

use std::path::Path;

use opweave_device::Platform;
use opweave_registry::FrozenRegistry;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Query;

#[cfg(test)]
mod tests;

/// The usual name of the file.
pub const PROFILE_FILE: &str = "opweave.profile.toml";

/// The version of the format that this library reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A profile as it is stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// [`digest`] of what it was measured with.
    pub digest: String,
    /// The measurements.
    #[serde(default, rename = "entry")]
    pub entries: Vec<Entry>,
}

/// The fastest validated implementation of one problem class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The operation.
    pub operation: String,
    /// The device's product name.
    pub device: String,
    /// The problem's facts, as `k=v` separated by spaces.
    pub problem: String,
    /// The sizes as selection prints them: `all`, `0..=8`, `9..`.
    pub bucket: String,
    /// The row.
    pub implementation: String,
    /// Why.
    pub evidence: Evidence,
}

/// What a profile entry rests on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Digest of the numerics report that validated the implementation.
    pub numerics: String,
    /// Identity of the benchmark run.
    pub run: String,
    /// The timer.
    pub timer: String,
    /// Median in microseconds.
    pub median_us: f64,
    /// Half-width of the 95 % interval of the median, in microseconds.
    pub spread_us: f64,
}

/// A profile that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The file cannot be read.
    #[error("profile {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The text is not a profile.
    #[error("profile {path} is not valid: {reason}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Another version of the format.
    #[error("profile {path} has schema_version {has}; this library reads {SCHEMA_VERSION}")]
    Schema {
        /// The file.
        path: String,
        /// Its version.
        has: u32,
    },
    /// Two entries for the same thing.
    #[error("profile {path} has two entries for {operation} [{problem}] on {device}, bucket {bucket}")]
    Duplicate {
        /// The file.
        path: String,
        /// The operation.
        operation: String,
        /// The problem.
        problem: String,
        /// The device.
        device: String,
        /// The bucket.
        bucket: String,
    },
}

/// A profile whose digest does not match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the measured profile is stale: it was measured with digest {profile}, this process has {current}; selection goes by rank"
)]
pub struct Staleness {
    /// Digest in the profile.
    pub profile: String,
    /// Digest of this process.
    pub current: String,
}

/// A profile whose digest matches this process.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedProfile(Profile);

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn load(path: &Path) -> Result<Self, ProfileError> {
        let shown = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Profile::parse(&text, &shown),
            Err(e) => Err(ProfileError::Read { path: shown, reason: e.to_string() }),
        }
    }

    /// Reads a profile from text; `path` is only for messages.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn parse(text: &str, path: &str) -> Result<Self, ProfileError> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: Option<u32>,
        }
        let format = |e: toml::de::Error| ProfileError::Format {
            path: path.to_owned(),
            reason: e.to_string().trim_end().to_owned(),
        };
        // The version first: another version may have other fields.
        let version: Version = toml::from_str(text).map_err(format)?;
        if let Some(has) = version.schema_version.filter(|&v| v != SCHEMA_VERSION) {
            return Err(ProfileError::Schema { path: path.to_owned(), has });
        }
        let profile: Profile = toml::from_str(text).map_err(format)?;
        for (i, entry) in profile.entries.iter().enumerate() {
            if profile.entries[..i].iter().any(|e| e.class() == entry.class()) {
                return Err(ProfileError::Duplicate {
                    path: path.to_owned(),
                    operation: entry.operation.clone(),
                    problem: entry.problem.clone(),
                    device: entry.device.clone(),
                    bucket: entry.bucket.clone(),
                });
            }
        }
        Ok(profile)
    }

    /// Accepts the profile for this process.
    ///
    /// # Errors
    /// [`Staleness`] when the digests differ.
    pub fn accept(self, current: &str) -> Result<LoadedProfile, Staleness> {
        if self.digest == current {
            return Ok(LoadedProfile(self));
        }
        Err(Staleness { profile: self.digest, current: current.to_owned() })
    }
}

impl Entry {
    fn class(&self) -> (&str, &str, &str, &str) {
        (&self.operation, &self.device, &self.problem, &self.bucket)
    }
}

impl LoadedProfile {
    /// The implementation that the profile names for a query.
    pub fn implementation(&self, query: &Query<'_>) -> Option<&str> {
        let (device, problem) = (query.key.name(), query.problem?.facts().to_string());
        let (problem, bucket) = (problem.as_str(), query.bucket.to_string());
        let class = (query.operation, device.as_str(), problem, bucket.as_str());
        self.0.entries.iter().find(|e| e.class() == class).map(|e| e.implementation.as_str())
    }

    /// The profile.
    pub fn profile(&self) -> &Profile {
        &self.0
    }
}

/// What a profile is bound to: the version of this library, with which its kernels come; every row with all that it says
/// of itself and its availability; and every driver and library version that the platform reports.
pub fn digest(registry: &FrozenRegistry, platform: &Platform) -> String {
    let mut hash = Sha256::new();
    hash.update(concat!(env!("CARGO_PKG_VERSION"), "\n"));
    for row in registry.rows() {
        let spec = row.spec();
        let contracts: Vec<String> = spec.contracts.iter().map(|c| c.label()).collect();
        let available = row.unavailable().map_or_else(String::new, ToString::to_string);
        hash.update(format!("{}|{contracts:?}|{}|{available}|", spec.name, spec.needs));
        hash.update(format!("{}.{}|{:?}|{}|{:?}|", spec.device, spec.solution, spec.variant, spec.binding, spec.modes));
        hash.update(format!("{}|{}|{}\n", spec.priority, spec.deterministic, spec.batch_invariant));
    }
    for device in platform.devices() {
        hash.update(format!("{}|{}|{:?}|{:?}\n", device.name, device.key, device.driver, device.runtime));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
