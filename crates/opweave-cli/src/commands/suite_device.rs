// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The device of a suite: what it is, and who looks at it. Opens none.

use opweave_bench::caches::host_caches;
use opweave_bench::report::CacheSizes;
use opweave_device::{DeviceId, DeviceKind};
use opweave_suite::identity::{Identity, host_uuid};
use opweave_suite::telemetry::{HostProbe, Limits, Probe, Proc};

use crate::exit::Failure;
use crate::solutions;

/// A device that is here.
pub(super) struct Found {
    pub(super) identity: Identity,
    pub(super) threads: Option<usize>,
    pub(super) driver: Option<String>,
    pub(super) caches: Option<CacheSizes>,
    pub(super) probe: Box<dyn Probe>,
    pub(super) limits: Limits,
    /// Whether rows tell no identity, as those of the CPU do.
    pub(super) trusts_uuid: bool,
}

impl Found {
    /// Finds a device by what the command line calls it.
    pub(super) fn new(name: &str, threads: usize) -> Result<Self, Failure> {
        let id: DeviceId = name.parse().map_err(Failure::usage)?;
        let runtime = solutions::runtime();
        let platform = runtime.platform();
        let Some(info) = platform.device(id) else {
            let why = platform.refusal(id).unwrap_or_else(|| format!("this build cannot run on {}", id.kind));
            return Err(Failure::Broken(anyhow::anyhow!("failed to measure on {id}: {why}")));
        };
        let (name, key) = (info.name.clone(), info.key.to_string());
        let identity = |uuid: String| Identity { id: id.to_string(), name: name.clone(), key: key.clone(), uuid };
        if id.kind == DeviceKind::Cpu {
            let available = std::thread::available_parallelism().map_or(1, Into::into);
            return Ok(Found {
                identity: identity(host_uuid()),
                threads: Some(if threads == 0 { available } else { threads }),
                driver: None,
                caches: Some(host_caches()),
                probe: Box::new(HostProbe::new(Proc::default())),
                limits: Limits::HOST,
                trusts_uuid: true,
            });
        }
        let Some(uuid) = info.uuid.clone() else {
            return Err(Failure::Broken(anyhow::anyhow!("failed to lease {id}: its driver tells no UUID")));
        };
        Ok(Found {
            probe: gpu_probe(&uuid),
            identity: identity(uuid),
            threads: None,
            driver: info.driver.clone(),
            caches: None,
            limits: Limits::GPU,
            trusts_uuid: false,
        })
    }
}

/// Telemetry of a GPU, or none, which every row then says.
#[cfg(feature = "nvml")]
fn gpu_probe(uuid: &str) -> Box<dyn Probe> {
    use opweave_suite::telemetry::{GpuProbe, NoTelemetry, NvmlBoard};
    match NvmlBoard::open(uuid) {
        Ok(board) => Box::new(GpuProbe::new(board, Proc::default())),
        Err(reason) => {
            eprintln!("note: no telemetry of {uuid}: {reason}");
            Box::new(NoTelemetry)
        }
    }
}

#[cfg(not(feature = "nvml"))]
fn gpu_probe(uuid: &str) -> Box<dyn Probe> {
    eprintln!("note: no telemetry of {uuid}: this build has no feature nvml");
    Box::new(opweave_suite::telemetry::NoTelemetry)
}
