// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where a run took place.

use std::path::Path;
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Implementation;

/// The name under which an implementation says which image it was loaded from, among what it says of its launch.
pub const IMAGE: &str = "image";

/// What stands before a library's name there; the value is its version.
pub const LIBRARY: &str = "library.";

/// The device, its software and the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The device.
    pub device: DeviceEnvironment,
    /// The host.
    pub host: HostEnvironment,
    /// Libraries that implementations use, with the versions found.
    pub libraries: Vec<LibraryVersion>,
    /// Digests of the kernel images that were loaded.
    pub images: Vec<String>,
    /// Version of opweave.
    pub opweave: String,
    /// `release` or `debug`.
    pub build: String,
    /// The compiler found on the path, or the oldest that opweave admits.
    pub rustc: String,
    /// Source revision: what `--revision` said, or git's answer.
    pub revision: Option<String>,
    /// Whether the checkout had changes; unknown where `--revision` or no git spoke.
    pub dirty: Option<bool>,
}

/// The device that was validated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceEnvironment {
    /// `cpu`, `cuda:0`.
    pub id: String,
    /// Product name.
    pub name: String,
    /// What selection saw of it.
    pub key: String,
    /// A name that survives renumbering.
    pub uuid: Option<String>,
    /// Driver version.
    pub driver: Option<String>,
    /// Runtime version.
    pub runtime: Option<String>,
    /// State of the clocks, as far as known.
    pub clocks: String,
    /// Threads of the caller's pool, for the CPU.
    pub threads: Option<usize>,
}

/// The host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostEnvironment {
    /// Operating system and architecture.
    pub system: String,
    /// Processors that this process may use.
    pub processors: Option<usize>,
    /// Load average of one minute before the run, where the system tells.
    pub load_before: Option<f64>,
    /// The same after it.
    pub load_after: Option<f64>,
}

/// One library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LibraryVersion {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Environment {
    /// What can be known of host and source; the device is the caller's to fill in. `revision` replaces git's answer, `rustc` the
    /// compiler's.
    pub fn probe(revision: Option<&str>, rustc: Option<&str>) -> Environment {
        let (revision, dirty) = match revision {
            Some(text) => (Some(text.to_owned()), None),
            None => git(),
        };
        Environment {
            host: HostEnvironment {
                system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
                processors: std::thread::available_parallelism().ok().map(Into::into),
                load_before: load(),
                load_after: None,
            },
            opweave: env!("CARGO_PKG_VERSION").to_owned(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            rustc: rustc.map_or_else(compiler, str::to_owned),
            revision,
            dirty,
            ..Environment::default()
        }
    }

    /// Notes the image and the libraries of an implementation that was prepared, each once.
    pub fn note(&mut self, implementation: &Implementation) {
        for (name, value) in &implementation.launch {
            if name == IMAGE
                && let Err(place) = self.images.binary_search(value)
            {
                self.images.insert(place, value.clone());
            }
            if let Some(library) = name.strip_prefix(LIBRARY) {
                let found = LibraryVersion { name: library.to_owned(), version: value.clone() };
                if !self.libraries.contains(&found) {
                    self.libraries.push(found);
                }
            }
        }
    }

    /// Notes the load at the end of the run.
    pub fn close(&mut self) {
        self.host.load_after = load();
    }
}

/// The compiler on the path, as it names itself.
pub fn compiler() -> String {
    answer("rustc", &["--version"])
        .unwrap_or_else(|| format!("not on the path; opweave needs {} or later", env!("CARGO_PKG_RUST_VERSION")))
}

/// Load average of one minute.
fn load() -> Option<f64> {
    std::fs::read_to_string(Path::new("/proc/loadavg")).ok()?.split_whitespace().next()?.parse().ok()
}

/// The checkout that the process runs in: its revision, and whether it has changes.
fn git() -> (Option<String>, Option<bool>) {
    let revision = answer("git", &["rev-parse", "HEAD"]);
    let dirty = revision.as_ref().and_then(|_| answer("git", &["status", "--porcelain"])).map(|text| !text.is_empty());
    (revision, dirty)
}

/// First words of a tool's output, or `None` when it is missing or fails.
fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_libraries_of_implementations_are_noted_once() {
        let implementation = |launch: &[(&str, &str)]| Implementation {
            launch: launch.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            name: "cuda.native.rms_norm".into(),
            solution: "cuda.native".into(),
            variant: None,
            binding: "cuda".into(),
            deterministic: true,
            batch_invariant: true,
        };
        let mut environment = Environment::default();
        for launch in [
            &[("image", "rms_norm sha256:2"), ("block", "256")][..],
            &[("image", "l2_norm sha256:1"), ("library.cublasLt", "13.0"), ("library.cudnn", "9.1")],
            &[("image", "rms_norm sha256:2"), ("library.cublasLt", "13.0")],
        ] {
            environment.note(&implementation(launch));
        }
        assert_eq!(environment.images, ["l2_norm sha256:1", "rms_norm sha256:2"]);
        let libraries: Vec<_> = environment.libraries.iter().map(|l| (l.name.as_str(), l.version.as_str())).collect();
        assert_eq!(libraries, [("cublasLt", "13.0"), ("cudnn", "9.1")]);
    }
}
