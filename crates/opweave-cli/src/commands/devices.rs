// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave devices`.

use opweave_device::{Backend, BackendState, DeviceInfo, DeviceKind, Platform};
use serde_json::json;

use crate::args::DevicesArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone};

/// Lists every kind of device that opweave knows, with what the probe found. Absent hardware is an answer.
pub(crate) fn run(args: &DevicesArgs, out: &mut Output) -> Result<Exit, Failure> {
    show(&platform(), args.json, out)?;
    Ok(Exit::Good)
}

/// What this machine offers, without a device context. Kinds whose solution is not compiled in say so.
pub(crate) fn platform() -> Platform {
    let absent = |kind| Backend { kind, state: BackendState::NotCompiled };
    Platform::new(vec![opweave_device::cpu::backend(), absent(DeviceKind::Cuda), absent(DeviceKind::Npu)])
}

fn show(platform: &Platform, json: bool, out: &mut Output) -> Result<(), Failure> {
    if json {
        let backends: Vec<_> = platform.backends().iter().map(backend_json).collect();
        return out.json(&json!({ "schema_version": 1, "backends": backends }));
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

fn backend_json(backend: &Backend) -> serde_json::Value {
    let devices = match &backend.state {
        BackendState::Present(devices) => devices.as_slice(),
        _ => &[],
    };
    let devices: Vec<_> = devices
        .iter()
        .map(|d| {
            json!({
                "id": d.id.to_string(),
                "name": d.name,
                "key": d.key.to_string(),
                "uuid": d.uuid,
                "memory_bytes": d.memory_bytes,
                "multiprocessors": d.multiprocessors,
                "driver": d.driver,
                "runtime": d.runtime,
            })
        })
        .collect();
    json!({
        "kind": backend.kind.to_string(),
        "state": backend.state.word(),
        "reason": backend.state.reason(),
        "devices": devices,
    })
}
