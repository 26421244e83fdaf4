// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A kernel with nothing behind it: data and functions that a test sets, and a log of what was asked of it.

use std::cell::RefCell;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{DeviceKey, LaunchError, StreamRef};
use opweave_registry::{
    Bucket, Kernel, KernelSpec, PackedLayout, Plan, PrepareContext, PrepareError, Regions, Reject, Workspace,
};
use opweave_tensor::RawTensor;

thread_local! {
    /// What kernels were asked on this thread. Every test has a thread of its own, and the noop device runs on it.
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Adds a line to this thread's log.
pub fn note(line: String) {
    LOG.with_borrow_mut(|log| log.push(line));
}

/// Takes this thread's log.
pub fn take_log() -> Vec<String> {
    LOG.take()
}

/// How a kernel ranks: its priority, or a function of problem, bucket and device.
pub type RankOf<O> = fn(&<O as Operator>::Problem, Bucket, &DeviceKey) -> i32;
/// What a kernel's data cannot say.
pub type ResidualOf<O> = fn(&<O as Operator>::Problem, Bucket, &DeviceKey) -> Result<(), Reject>;
/// What a plan needs, or why there is none.
pub type PlanOf<O> = fn(&<O as Operator>::Problem, &PrepareContext<'_>) -> Result<PlanNeeds, PrepareError>;
/// What a call does.
pub type LaunchOf<O> = fn(&<O as Operator>::Args, Workspace, StreamRef<'_>) -> Result<(), LaunchError>;

/// What a plan of the test says of itself.
#[derive(Clone, Default)]
pub struct PlanNeeds {
    /// Workspace.
    pub regions: Regions,
    /// Packed layout.
    pub packed: Option<PackedLayout>,
}

/// A kernel as a test sets it up.
pub struct TestKernel<O: Operator> {
    /// Its spec.
    pub spec: KernelSpec,
    /// Its rank.
    pub rank: Option<RankOf<O>>,
    /// Its residual.
    pub residual: Option<ResidualOf<O>>,
    /// Its plan.
    pub plan: PlanOf<O>,
    /// Its launch.
    pub launch: LaunchOf<O>,
}

impl<O: Operator> TestKernel<O> {
    /// A kernel that ranks by its priority, needs nothing and does nothing.
    pub fn new(spec: KernelSpec) -> Self {
        TestKernel { spec, rank: None, residual: None, plan: |_, _| Ok(PlanNeeds::default()), launch: |_, _, _| Ok(()) }
    }
}

impl<O: Operator> Kernel<O> for TestKernel<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn rank(&self, problem: &O::Problem, bucket: Bucket, key: &DeviceKey) -> i32 {
        self.rank.map_or(self.spec.priority, |rank| rank(problem, bucket, key))
    }

    fn residual(&self, problem: &O::Problem, bucket: Bucket, key: &DeviceKey) -> Result<(), Reject> {
        self.residual.map_or(Ok(()), |residual| residual(problem, bucket, key))
    }

    fn prepare(&self, problem: &O::Problem, context: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        note(format!("prepare {} {}", self.spec.name, context.bucket));
        let needs = (self.plan)(problem, context)?;
        Ok(Arc::new(TestPlan::<O> { name: self.spec.name.clone(), needs, launch: self.launch }))
    }
}

struct TestPlan<O: Operator> {
    name: String,
    needs: PlanNeeds,
    launch: LaunchOf<O>,
}

impl<O: Operator> Plan<O> for TestPlan<O> {
    fn workspace(&self) -> Regions {
        self.needs.regions
    }

    fn packed(&self) -> Option<&PackedLayout> {
        self.needs.packed.as_ref()
    }

    unsafe fn pack(&self, source: &RawTensor, target: *mut u8, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let Some(layout) = self.packed() else {
            return Err(LaunchError::Refused(format!("{} packs nothing", self.name)));
        };
        note(format!("pack {} {:?} on {}", self.name, source.shape(), stream.device()));
        // SAFETY: clause 1 of `pack`: `target` is writable for the layout's bytes.
        unsafe { target.write_bytes(0x5a, layout.bytes) };
        Ok(())
    }

    unsafe fn enqueue(&self, args: &O::Args, workspace: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        note(format!("enqueue {}", self.name));
        (self.launch)(args, workspace, stream)
    }
}
