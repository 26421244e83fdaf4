// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The runtime of this binary.

use std::sync::Arc;

use anyhow::Context as _;
use opweave::Runtime;
use opweave_cpu::ceilings::CpuInstruments;
use opweave_device::Instruments;
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

/// The host's plain kernels.
pub(crate) fn instruments() -> Option<Box<dyn Instruments>> {
    Some(Box::new(CpuInstruments::default()))
}
