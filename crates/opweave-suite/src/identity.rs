// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which device this is, whoever asks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What this process calls it: `cpu`, `cuda:0`.
    pub id: String,
    /// Product name.
    pub name: String,
    /// What selection knows of it.
    pub key: String,
    /// What every process on the machine calls it: leases and telemetry go by this.
    pub uuid: String,
}

/// The identity of the host's processors. Containers of one host share its boot and may not share a machine id, so the boot it
/// is; a lease does not outlive it.
#[must_use]
pub fn host_uuid() -> String {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let boot = read("/proc/sys/kernel/random/boot_id").or_else(|| read("/etc/machine-id"));
    format!("CPU-{}", boot.as_deref().unwrap_or("host"))
}

/// A file name for the baseline of a device: its product name and, for a CPU, how many processors it has.
#[must_use]
pub fn slug(name: &str, processors: Option<usize>) -> String {
    let mut text: String =
        name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    while text.contains("--") {
        text = text.replace("--", "-");
    }
    let text = text.trim_matches('-').to_owned();
    match processors {
        Some(n) => format!("{text}-{n}-threads"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_one_file_name() {
        assert_eq!(slug("AMD EPYC 9R14 (2.6 GHz)", Some(2)), "amd-epyc-9r14-2-6-ghz-2-threads");
        assert_eq!(slug("NVIDIA H200", None), "nvidia-h200");
    }

    #[test]
    fn the_host_is_the_same_each_time() {
        assert!(host_uuid().starts_with("CPU-") && host_uuid() == host_uuid());
    }
}
