// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The solutions of this build, in the written order.

use std::sync::Arc;

use opweave_contract::ops::FAMILIES;
use opweave_device::Platform;
use opweave_runtime::{Bindings, Config, InitializeError, Runtime, Solution};

/// The solutions that are compiled in. Registration is explicit and ordered; the order never decides a choice.
const SOLUTIONS: &[Solution] = &[
    #[cfg(feature = "cpu")]
    Solution { name: "cpu.native", register: opweave_cpu::register, probe: opweave_device::cpu::backend },
    #[cfg(feature = "cuda")]
    Solution { name: "cuda.native", register: opweave_cuda::register, probe: opweave_device_cuda::backend },
    #[cfg(feature = "npu")]
    Solution { name: "npu.aclnn", register: opweave_aclnn::register, probe: opweave_device_npu::backend },
    #[cfg(feature = "npu")]
    Solution { name: "npu.ascendc", register: opweave_ascendc::register, probe: opweave_device_npu::backend },
];

/// A runtime with every operation and every solution of this build. Nothing is loaded yet.
pub fn runtime() -> Runtime {
    let builder = FAMILIES.iter().fold(Runtime::builder(), |builder, family| builder.declare(family));
    SOLUTIONS.iter().fold(builder, |builder, solution| builder.solution(*solution)).build()
}

/// Initialises the runtime of this process.
///
/// # Errors
/// As [`Runtime::initialize`].
pub fn initialize(config: &Config) -> Result<Arc<Bindings>, InitializeError> {
    opweave_runtime::initialize(runtime, config)
}

/// What this machine offers to this build. Creates no device context.
pub fn platform() -> Platform {
    runtime().platform()
}

/// A number of threads that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{threads} threads cannot be had: {reason}")]
pub struct SolutionError {
    /// The number asked for.
    pub threads: usize,
    /// Why not.
    pub reason: String,
}

/// A stream of the CPU on `threads` threads, the calling one included; 0 for as many as the machine has.
///
/// # Errors
/// [`SolutionError`] when the system refuses to start them.
#[cfg(feature = "cpu")]
pub fn host_stream(threads: usize) -> Result<opweave_device::HostStream, SolutionError> {
    use opweave_device::cpu::{Parallel, Pool, Serial};

    let wanted = match std::num::NonZero::new(threads) {
        Some(wanted) => wanted,
        None => std::thread::available_parallelism().unwrap_or(std::num::NonZero::<usize>::MIN),
    };
    let pool: Arc<dyn Parallel> = if wanted.get() == 1 {
        Arc::new(Serial)
    } else {
        let failed = |e: opweave_device::cpu::PoolError| SolutionError { threads, reason: e.to_string() };
        Arc::new(Pool::new(wanted).map_err(failed)?)
    };
    Ok(opweave_device::HostStream::new(opweave_tensor::DeviceId::CPU, pool))
}
