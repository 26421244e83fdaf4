// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What `numerics` and `bench` stand on: registry, device, interrupt, where the report goes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use opweave_device::cpu::{CpuDevice, Parallel, Pool, Serial};
use opweave_device::{Device, DeviceId, DeviceKind};
use opweave_device_cuda::CudaDevice;
use opweave_device_npu::NpuDevice;
use opweave_numerics::suite::SuiteSet;
use opweave_numerics::{Config, Ground, Interrupt};
use opweave_registry::FrozenRegistry;

use crate::args::SelectArgs;
use crate::exit::Failure;
use crate::{interrupt, solutions};

/// Everything that a run borrows.
pub(super) struct Base {
    registry: Arc<FrozenRegistry>,
    id: DeviceId,
    device: Result<Arc<dyn Device>, String>,
    threads: Option<usize>,
    interrupt: Interrupt,
}

impl Base {
    /// Registers the solutions and opens the device. A device that is not there is no error yet: a run says what it
    /// could not do.
    pub(super) fn new(args: &SelectArgs) -> Result<Self, Failure> {
        let runtime = solutions::runtime();
        let registry = solutions::registry(&runtime)?;
        let id: DeviceId = args.device.parse().map_err(Failure::usage)?;
        let (device, threads): (Result<Arc<dyn Device>, String>, _) = match id.kind {
            DeviceKind::Cpu => {
                let pool = pool(args.threads)?;
                let threads = pool.threads();
                (Ok(Arc::new(CpuDevice::new(pool))), Some(threads))
            }
            DeviceKind::Cuda if runtime.platform().device(id).is_some() => {
                let opened = CudaDevice::open(id).map(|device| Arc::new(device) as Arc<dyn Device>);
                (opened.map_err(|e| e.to_string()), None)
            }
            DeviceKind::Npu if runtime.platform().device(id).is_some() => {
                let opened = NpuDevice::open(id).map(|device| Arc::new(device) as Arc<dyn Device>);
                (opened.map_err(|e| e.to_string()), None)
            }
            _ => {
                let refusal = runtime.platform().refusal(id);
                (Err(refusal.unwrap_or_else(|| format!("this build cannot run on {}", id.kind))), None)
            }
        };
        Ok(Self { registry, id, device, threads, interrupt: interrupt::install()? })
    }

    /// The device that was asked for.
    pub(super) fn device(&self) -> DeviceId {
        self.id
    }

    /// The same as a run takes it.
    pub(super) fn ground<'a>(&'a self, suites: &'a SuiteSet) -> Ground<'a> {
        Ground {
            registry: &self.registry,
            suites,
            device: self.device.as_ref().map_err(String::as_str),
            threads: self.threads,
            interrupt: &self.interrupt,
        }
    }
}

fn pool(threads: usize) -> Result<Arc<dyn Parallel>, Failure> {
    let pool = match std::num::NonZero::new(threads) {
        Some(one) if one.get() == 1 => return Ok(Arc::new(Serial)),
        Some(threads) => Pool::new(threads),
        None => Pool::with_available_parallelism(),
    };
    Ok(Arc::new(pool.map_err(|e| Failure::usage(format_args!("failed to {e}")))?))
}

/// The selectors as the libraries take them.
pub(super) fn config(args: &SelectArgs, suite_arguments: Vec<(String, String)>, output: PathBuf) -> Config {
    Config {
        operations: args.operation.clone(),
        device: args.device.clone(),
        mode: args.mode,
        implementation: args.implementation.clone(),
        label: args.label.clone(),
        tier: args.tier,
        seed: args.seed,
        grade: args.grade,
        tensors: args.tensors.clone(),
        revision: args.revision.clone(),
        rustc: args.rustc.clone(),
        output: Some(output),
        suite_arguments,
        ..Config::default()
    }
}

/// Where the report goes: what was asked for, or a new file that no earlier run used.
pub(super) fn output(args: &SelectArgs, command: &str) -> PathBuf {
    let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    args.output.clone().unwrap_or_else(|| PathBuf::from(format!(".opweave/{command}-{}.json", seconds())))
}
