// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each instruction set, out of one launcher for each operator.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::cpu::Parallel;
use opweave_device::{DeviceKind, LaunchError, StreamRef};
use opweave_registry::{
    Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Registry, RegistryError, Reject, Workspace,
};

use crate::simd::{Isa, last_level_cache};

/// What every AVX2 row needs of the processor: the features behind the token that the kernels run on.
const AVX2: &[&str] = &["avx2", "f16c", "fma"];

/// AVX2 before portable code before the reference.
const AVX2_PRIORITY: i32 = 200;
const PORTABLE_PRIORITY: i32 = 100;

/// An operator that has a native kernel: its launcher, which packs arguments and runs the kernel body.
pub(crate) trait Native: Operator {
    /// Runs one call.
    ///
    /// # Safety
    /// - As [`Plan::enqueue`]: `args` passed the check for `problem`, and the memory behind them is valid and not touched
    ///   by others until this returns.
    unsafe fn run(problem: &Self::Problem, args: &Self::Args, isa: Isa, pool: &dyn Parallel);
}

/// One row: a native kernel on one instruction set.
struct NativeKernel<O> {
    spec: KernelSpec,
    isa: Isa,
    operator: PhantomData<fn() -> O>,
}

struct NativePlan<O: Operator> {
    problem: O::Problem,
    isa: Isa,
}

impl<O: Native> Kernel<O> for NativeKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        // Asked of the processor once, here rather than in the first call.
        last_level_cache();
        Ok(Arc::new(NativePlan::<O> { problem: *problem, isa: self.isa }))
    }
}

impl<O: Native> Plan<O> for NativePlan<O> {
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the clauses of `Plan::enqueue` are those of `Native::run`.
        unsafe { O::run(&self.problem, args, self.isa, stream.pool()) };
        Ok(())
    }
}

/// Registers the rows of an operator: `cpu.native.<op>.avx2` and `cpu.native.<op>.portable`.
pub(crate) fn register<O: Native>(registry: &mut Registry) -> Result<(), RegistryError> {
    let spec = |variant: &str, priority, needs| KernelSpec {
        variant: Some(variant.to_owned()),
        priority,
        needs,
        ..KernelSpec::new(format!("cpu.native.{}.{variant}", O::NAME), "native", DeviceKind::Cpu, O::CONTRACTS)
    };
    let avx2 = spec("avx2", AVX2_PRIORITY, Needs::default().features(AVX2));
    match Isa::avx2() {
        Some(isa) => add::<O>(registry, avx2, isa)?,
        None => {
            let missing = AVX2.iter().map(|f| (*f).to_owned()).collect();
            let has = opweave_device::cpu::host_key().features().to_vec();
            registry.register_unavailable::<O>(avx2, Reject::Feature { missing, has })?;
        }
    }
    add::<O>(registry, spec("portable", PORTABLE_PRIORITY, Needs::default()), Isa::PORTABLE)
}

fn add<O: Native>(registry: &mut Registry, spec: KernelSpec, isa: Isa) -> Result<(), RegistryError> {
    registry.register::<O, _>(Arc::new(NativeKernel::<O> { spec, isa, operator: PhantomData })).map(drop)
}
