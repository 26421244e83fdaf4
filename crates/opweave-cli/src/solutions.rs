// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The runtime of this binary.

use std::sync::Arc;

use anyhow::Context as _;
use opweave::Runtime;
use opweave_cpu::ceilings::CpuInstruments;
use opweave_cuda::ceilings::CudaInstruments;
use opweave_device::{DeviceId, DeviceKind, Instruments};
use opweave_device_cuda::CudaDevice;
use opweave_registry::FrozenRegistry;

use crate::exit::Failure;

/// Every operation with the solutions that are compiled in. Nothing is loaded yet.
pub(crate) fn runtime() -> Runtime {
    opweave::runtime()
}

/// The frozen registry.
pub(crate) fn registry(runtime: &Runtime) -> Result<Arc<FrozenRegistry>, Failure> {
    Ok(runtime.registry().context("failed to register the solutions")?)
}

/// The plain kernels of a device. Without them a report has no ceilings, and says so.
pub(crate) fn instruments(device: DeviceId) -> Result<Box<dyn Instruments>, String> {
    match device.kind {
        DeviceKind::Cpu => Ok(Box::new(CpuInstruments::default())),
        DeviceKind::Cuda => {
            let opened = CudaDevice::open(device).and_then(|device| CudaInstruments::new(&device));
            opened.map(|instruments| Box::new(instruments) as Box<dyn Instruments>).map_err(|e| e.to_string())
        }
        kind => Err(format!("this build has none for {kind}")),
    }
}
