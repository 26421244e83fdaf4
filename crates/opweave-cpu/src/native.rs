// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rows of native kernels: one row for each instruction set, out of one launcher for each operator.

use std::marker::PhantomData;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::cpu::Parallel;
use opweave_device::{DeviceKind, LaunchError, StreamRef};
use opweave_reference::FaultAt;
use opweave_registry::{
    Kernel, KernelSpec, Needs, PackedLayout, Plan, PrepareContext, PrepareError, Regions, Registry, RegistryError,
    Reject, Workspace,
};

use opweave_tensor::RawTensor;

use crate::faults;
use crate::simd::{Isa, last_level_cache};

/// One row of every operator: an instruction set, its rank, what it asks of the processor (the features behind the token
/// that kernels run on), and the token, if this host has it.
struct Variant {
    name: &'static str,
    priority: i32,
    features: &'static [&'static str],
    isa: fn() -> Option<Isa>,
}

/// The wider the vector, the higher the rank; the reference comes after all of them.
const VARIANTS: &[Variant] = &[
    Variant {
        name: "avx512",
        priority: 300,
        features: &["avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "avx512vnni", "f16c", "fma"],
        isa: Isa::avx512,
    },
    Variant { name: "avx2", priority: 200, features: &["avx2", "f16c", "fma"], isa: Isa::avx2 },
    Variant { name: "portable", priority: 100, features: &[], isa: || Some(Isa::PORTABLE) },
];

/// An operator that has a native kernel: its launcher, which packs arguments and runs the kernel body.
pub(crate) trait Native: Operator {
    /// The first value of a call that is outside its table, looked for before anything is written.
    ///
    /// # Safety
    /// - As [`Native::run`].
    #[inline(always)]
    unsafe fn scan(problem: &Self::Problem, args: &Self::Args) -> Option<FaultAt> {
        let _ = (problem, args);
        None
    }

    /// The layout in which calls on `isa` read the packed weight, if they do not read a plain one.
    fn layout(problem: &Self::Problem, isa: Isa) -> Option<PackedLayout> {
        let _ = (problem, isa);
        None
    }

    /// Packs a plain weight in the layout of [`Native::layout`], where there is one.
    ///
    /// # Safety
    /// - As [`Plan::pack`]: `source` is a weight as the problem describes it, `target` has the layout's size and alignment.
    unsafe fn pack(problem: &Self::Problem, source: &RawTensor, target: *mut u8, isa: Isa, pool: &dyn Parallel) {
        let _ = (problem, source, target, isa, pool);
    }

    /// The workspace of a plan, from the bounds of its problem.
    fn workspace(problem: &Self::Problem) -> Regions {
        let _ = problem;
        Regions::default()
    }

    /// [`Native::run`] with that workspace.
    ///
    /// # Safety
    /// - As [`Native::run`]; `workspace` passed the check for [`Native::workspace`].
    #[inline(always)]
    unsafe fn run_in(problem: &Self::Problem, args: &Self::Args, workspace: Workspace, isa: Isa, pool: &dyn Parallel) {
        let _ = workspace;
        // SAFETY: the caller's clauses.
        unsafe { Self::run(problem, args, isa, pool) }
    }

    /// Runs one call, leaving out what [`Native::scan`] finds.
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
    layout: Option<PackedLayout>,
    regions: Regions,
}

impl<O: Native> Kernel<O> for NativeKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        // Asked of the processor once, here rather than in the first call.
        last_level_cache();
        let (layout, regions) = (O::layout(problem, self.isa), O::workspace(problem));
        Ok(Arc::new(NativePlan::<O> { problem: *problem, isa: self.isa, layout, regions }))
    }
}

impl<O: Native> Plan<O> for NativePlan<O> {
    fn packed(&self) -> Option<&PackedLayout> {
        self.layout.as_ref()
    }

    unsafe fn pack(&self, source: &RawTensor, target: *mut u8, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        if self.layout.is_none() {
            return Err(LaunchError::Refused(
                "this plan reads its weight as a plain tensor and packs nothing".to_owned(),
            ));
        }
        // SAFETY: the clauses of `Plan::pack` are those of `Native::pack`.
        unsafe { O::pack(&self.problem, source, target, self.isa, stream.pool()) };
        Ok(())
    }

    fn workspace(&self) -> Regions {
        self.regions
    }

    unsafe fn enqueue(&self, args: &O::Args, workspace: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the clauses of `Plan::enqueue` are those of `Native::scan`.
        faults::report::<O>(unsafe { O::scan(&self.problem, args) }, stream)?;
        // SAFETY: the clauses of `Plan::enqueue` are those of `Native::run_in`.
        unsafe { O::run_in(&self.problem, args, workspace, self.isa, stream.pool()) };
        Ok(())
    }
}

/// Registers the rows of an operator, `cpu.native.<op>.<variant>`. Where this host lacks the instructions, the row is
/// listed as unavailable.
pub(crate) fn register<O: Native>(registry: &mut Registry) -> Result<(), RegistryError> {
    for variant in VARIANTS {
        let name = format!("cpu.native.{}.{}", O::NAME, variant.name);
        let spec = KernelSpec {
            variant: Some(variant.name.to_owned()),
            priority: variant.priority,
            needs: Needs::default().features(variant.features),
            ..KernelSpec::new(name, "native", DeviceKind::Cpu, O::CONTRACTS)
        };
        match (variant.isa)() {
            Some(isa) => {
                drop(registry.register::<O, _>(Arc::new(NativeKernel::<O> { spec, isa, operator: PhantomData }))?)
            }
            None => {
                let missing = variant.features.iter().map(|f| (*f).to_owned()).collect();
                let has = opweave_device::cpu::host_key().features().to_vec();
                registry.register_unavailable::<O>(spec, Reject::Feature { missing, has })?;
            }
        }
    }
    Ok(())
}
