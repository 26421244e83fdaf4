// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave devices`.

use opweave_device::{Backend, BackendState, DeviceInfo, DeviceKind, Platform};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::DevicesArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, SCHEMA_VERSION, Tone};

/// Lists every kind of device that opweave knows, with what the probe found. Absent hardware is an answer.
pub(crate) fn run(args: &DevicesArgs, out: &mut Output) -> Result<Exit, Failure> {
    show(&platform(), args.json, out)?;
    Ok(Exit::Good)
}

/// What this machine offers, without a device context. Kinds whose solution is not compiled in say so, and the host is
/// there even in a build without a solution for it.
fn platform() -> Platform {
    let mut backends = crate::solutions::runtime().platform().backends().to_vec();
    backends.push(opweave_device::cpu::backend());
    let absent = |kind| Backend { kind, state: BackendState::NotCompiled };
    backends.extend([absent(DeviceKind::Cuda), absent(DeviceKind::Npu)]);
    Platform::new(backends)
}

fn show(platform: &Platform, as_json: bool, out: &mut Output) -> Result<(), Failure> {
    if as_json {
        return out.json(&json(platform));
    }
    for backend in platform.backends() {
        match &backend.state {
            BackendState::Present(devices) => {
                for device in devices {
                    let id = out.tone(Tone::Good, &device.id.to_string());
                    out.line(format_args!("{id}  {}", device.name))?;
                    for (name, value) in details(device) {
                        out.line(format_args!("    {name:<16} {value}"))?;
                    }
                }
            }
            state => {
                let word = out.tone(Tone::Warn, state.word());
                out.line(format_args!("{}  {word}: {}", backend.kind, state.reason().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

fn details(device: &DeviceInfo) -> Vec<(&'static str, String)> {
    let mut details = vec![("key", device.key.to_string())];
    let mut push = |name, value: Option<String>| details.extend(value.map(|v| (name, v)));
    push("uuid", device.uuid.clone());
    push("memory", device.memory_bytes.map(|b| format!("{:.1} GiB", b as f64 / f64::from(1 << 30))));
    push("multiprocessors", device.multiprocessors.map(|n| n.to_string()));
    push("driver", device.driver.clone());
    push("runtime", device.runtime.clone());
    if device.id.kind == DeviceKind::Cpu {
        let caches = opweave_bench::caches::host_caches();
        let kib = |bytes: u64| format!("{} KiB", bytes >> 10);
        let (l1, l2, last) = (kib(caches.l1_bytes), kib(caches.l2_bytes), kib(caches.last_level_bytes));
        details.push(("caches", format!("L1 {l1}, L2 {l2}, last level {last} ({})", caches.source)));
    }
    details
}

/// What `devices --json` writes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DevicesJson {
    /// Version of this format.
    schema_version: u32,
    /// Every kind of device that opweave knows.
    backends: Vec<BackendJson>,
}

/// One kind of device.
#[derive(Serialize, JsonSchema)]
struct BackendJson {
    /// `cpu`, `cuda`, `npu`.
    kind: String,
    /// `present`, `no device`, `absent`, `broken`, `not compiled`.
    state: String,
    /// Why there is no device.
    reason: Option<String>,
    /// The devices.
    devices: Vec<DeviceJson>,
}

/// One device.
#[derive(Serialize, JsonSchema)]
struct DeviceJson {
    id: String,
    name: String,
    /// What selection knows of it.
    key: String,
    uuid: Option<String>,
    memory_bytes: Option<u64>,
    multiprocessors: Option<u32>,
    driver: Option<String>,
    runtime: Option<String>,
}

fn json(platform: &Platform) -> DevicesJson {
    let device = |d: &DeviceInfo| DeviceJson {
        id: d.id.to_string(),
        name: d.name.clone(),
        key: d.key.to_string(),
        uuid: d.uuid.clone(),
        memory_bytes: d.memory_bytes,
        multiprocessors: d.multiprocessors,
        driver: d.driver.clone(),
        runtime: d.runtime.clone(),
    };
    let backend = |b: &Backend| BackendJson {
        kind: b.kind.to_string(),
        state: b.state.word().to_owned(),
        reason: b.state.reason().map(str::to_owned),
        devices: match &b.state {
            BackendState::Present(devices) => devices.iter().map(device).collect(),
            _ => Vec::new(),
        },
    };
    DevicesJson { schema_version: SCHEMA_VERSION, backends: platform.backends().iter().map(backend).collect() }
}
