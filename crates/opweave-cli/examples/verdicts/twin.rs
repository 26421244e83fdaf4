// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A kernel under two names, one of which can be made slower.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use opweave_contract::ops::FAMILIES;
use opweave_contract::{ImplementationDecl, Operator};
use opweave_device::{DeviceKind, LaunchError, Stream, StreamRef};
use opweave_device_cuda::{CudaDevice, Grid, Launch, Module};
use opweave_registry::{
    FrozenRegistry, Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Regions, Registry, Workspace,
};

pub(crate) type AnyError = Box<dyn std::error::Error>;

/// The solutions of the two names; the second is never delayed.
const SOLUTIONS: [&str; 2] = ["ours", "twin"];

/// One block of one thread that counts the clock of its multiprocessor. Written in PTX, since examples build no images.
const SPIN: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 cycles)
{
    .reg .u64 %limit, %start, %now;
    .reg .pred %more;
    ld.param.u64 %limit, [cycles];
    mov.u64 %start, %clock64;
again:
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %more, %now, %limit;
    @%more bra again;
    ret;
}
\0";

/// How much slower the first name is. Read at each call, so that one registry serves every delay.
#[derive(Clone)]
pub(crate) enum Delay {
    /// Not at all.
    None,
    /// Millionths of the call's own time, spent by the host that ran it.
    Host(Arc<AtomicU64>),
    /// Cycles of a kernel that runs after the call's, and what the clock makes of them.
    Device { spin: Launch, cycles: Arc<AtomicU64>, cycles_per_us: f64 },
}

/// One thread of one block.
const ALONE: Grid = Grid { blocks: 1, block: [1, 1], shared_memory: 0 };

impl Delay {
    pub(crate) fn host() -> Delay {
        Delay::Host(Arc::default())
    }

    /// With the clock measured on this device.
    pub(crate) fn device(device: &CudaDevice, stream: &dyn Stream) -> Result<Delay, AnyError> {
        let spin = Launch::new(Module::load(device.context(), "spin", SPIN.as_bytes())?.function("spin")?, false);
        let time = |cycles: u64| -> Result<f64, AnyError> {
            let (mut before, mut after) = (stream.event()?, stream.event()?);
            before.record(stream.borrow())?;
            // SAFETY: one 64-bit number by value is the kernel's only parameter, and it touches no memory.
            unsafe { spin.run(ALONE, &cycles, stream.borrow()) }?;
            after.record(stream.borrow())?;
            stream.synchronize()?;
            Ok(after.elapsed_us(&*before)?)
        };
        time(100_000_000)?;
        let (long, short) = (time(40_000_000)?, time(20_000_000)?);
        Ok(Delay::Device { spin, cycles: Arc::default(), cycles_per_us: 20e6 / (long - short) })
    }

    /// Makes calls of `us` microseconds slower by `share` of that.
    pub(crate) fn set(&self, share: f64, us: f64) {
        match self {
            Delay::None => {}
            Delay::Host(millionths) => millionths.store((share * 1e6) as u64, Ordering::Relaxed),
            Delay::Device { cycles, cycles_per_us, .. } => {
                cycles.store((share * us * cycles_per_us) as u64, Ordering::Relaxed);
            }
        }
    }

    /// Makes calls slower by so many cycles of the device's clock, whatever that runs at.
    pub(crate) fn set_cycles(&self, planted: u64) {
        if let Delay::Device { cycles, .. } = self {
            cycles.store(planted, Ordering::Relaxed);
        }
    }
}

struct Twin<O: Operator> {
    inner: Arc<dyn Kernel<O>>,
    spec: KernelSpec,
    delay: Delay,
    delayed: bool,
}

struct TwinPlan<O: Operator> {
    inner: Arc<dyn Plan<O>>,
    delay: Delay,
    delayed: bool,
}

impl<O: Operator> Kernel<O> for Twin<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, p: &O::Problem, cx: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        let inner = self.inner.prepare(p, cx)?;
        Ok(Arc::new(TwinPlan { inner, delay: self.delay.clone(), delayed: self.delayed }))
    }
}

impl<O: Operator> Plan<O> for TwinPlan<O> {
    fn workspace(&self) -> Regions {
        self.inner.workspace()
    }

    unsafe fn enqueue(&self, a: &O::Args, w: Workspace, s: StreamRef<'_>) -> Result<(), LaunchError> {
        // What differs between the twins is the delay alone: both read the clock, both launch the second kernel.
        let start = Instant::now();
        // SAFETY: every clause of `Plan::enqueue` is handed through as it came.
        unsafe { self.inner.enqueue(a, w, s) }?;
        match &self.delay {
            Delay::None => Ok(()),
            Delay::Host(millionths) => {
                let share = if self.delayed { millionths.load(Ordering::Relaxed) as f64 / 1e6 } else { 0.0 };
                let until = start.elapsed().mul_f64(1.0 + share);
                while start.elapsed() < until {
                    std::hint::spin_loop();
                }
                Ok(())
            }
            Delay::Device { spin, cycles, .. } => {
                let cycles = if self.delayed { cycles.load(Ordering::Relaxed) } else { 0 };
                // SAFETY: one 64-bit number by value is the kernel's only parameter, and it touches no memory.
                unsafe { spin.run(ALONE, &cycles, s) }
            }
        }
    }
}

/// A registry of pairs of twins.
pub(crate) struct Twins {
    registry: Registry,
    from: Arc<FrozenRegistry>,
    device: DeviceKind,
    delay: Delay,
}

impl Twins {
    /// Out of the native rows of `from` for `device`.
    pub(crate) fn new(from: Arc<FrozenRegistry>, device: DeviceKind, delay: Delay) -> Result<Self, AnyError> {
        let mut registry = Registry::new();
        for family in FAMILIES {
            registry.declare(family)?;
        }
        Ok(Self { registry, from, device, delay })
    }

    /// Adds the twins of an operator's kernel.
    pub(crate) fn add<O: Operator>(&mut self) -> Result<(), AnyError> {
        let native = |row: &&opweave_registry::Row| {
            row.unavailable().is_none() && row.spec().device == self.device && row.spec().solution == "native"
        };
        let row = self.from.rows_of(O::NAME).filter(native).max_by_key(|row| row.spec().priority);
        let inner = row.and_then(|row| row.kernel::<O>()).ok_or("there is no native row")?;
        for (at, solution) in SOLUTIONS.into_iter().enumerate() {
            let (name, qualified) = (name(self.device, solution, O::NAME), format!("{}.{solution}", self.device));
            let mut spec = inner.spec().clone();
            (spec.name, spec.solution) = (name.clone(), solution.into());
            spec.priority = 10 - at as i32;
            // Declarations live as long as the program.
            let declared = ImplementationDecl { name: name.leak(), solution: qualified.leak(), libraries: &[] };
            self.registry.declare_rows(O::NAME, &[declared])?;
            let twin = Twin { inner: Arc::clone(&inner), spec, delay: self.delay.clone(), delayed: at == 0 };
            self.registry.register::<O, _>(Arc::new(twin))?;
        }
        Ok(())
    }

    pub(crate) fn freeze(mut self) -> Arc<FrozenRegistry> {
        self.registry.freeze()
    }
}

/// The name of a twin: that which can be slower, or the other.
pub(crate) fn names(device: DeviceKind, operation: &str) -> [String; 2] {
    SOLUTIONS.map(|solution| name(device, solution, operation))
}

fn name(device: DeviceKind, solution: &str, operation: &str) -> String {
    format!("{device}.{solution}.{operation}")
}
