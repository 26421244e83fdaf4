// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What this host offers.

use std::sync::OnceLock;

use opweave_tensor::{DeviceId, DeviceKind};

use crate::{Backend, BackendState, DeviceInfo, DeviceKey};

/// The key of this host: its architecture and the instruction sets that kernels ask for.
pub fn host_key() -> DeviceKey {
    static KEY: OnceLock<DeviceKey> = OnceLock::new();
    KEY.get_or_init(|| DeviceKey::cpu(std::env::consts::ARCH, &features()).with_name(model_name())).clone()
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<&'static str> {
    let detected = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
        ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
    ];
    detected.into_iter().filter(|&(_, has)| has).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<&'static str> {
    Vec::new()
}

/// The value of `key` in a file of `key: value` lines.
fn value_in(path: &str, key: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|k| k.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn model_name() -> String {
    value_in("/proc/cpuinfo", "model name").unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// What the probe knows of this host.
pub fn host_info() -> DeviceInfo {
    let memory = value_in("/proc/meminfo", "MemTotal").and_then(|v| v.split_whitespace().next()?.parse::<u64>().ok());
    DeviceInfo {
        id: DeviceId::CPU,
        key: host_key(),
        name: model_name(),
        uuid: None,
        memory_bytes: memory.map(|kib| kib << 10),
        multiprocessors: std::thread::available_parallelism().ok().map(|n| n.get() as u32),
        driver: None,
        runtime: None,
        graphs: true,
    }
}

/// The CPU as a backend: always present.
pub fn backend() -> Backend {
    Backend { kind: DeviceKind::Cpu, state: BackendState::Present(vec![host_info()]) }
}
