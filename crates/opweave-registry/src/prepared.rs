// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Prepared operators: plans for every bucket, behind one validated call.

use std::fmt;
use std::sync::Arc;

use opweave_contract::{ArgSpecs, Clause, ContractError, DynDims, Operator};
use opweave_device::{DeviceError, DeviceKey, LaunchError, StreamRef};
use opweave_tensor::{DeviceId, LayoutId, RawTensor};

use crate::{Bucket, Buckets, ExecutionMode, KernelSpec, PackedLayout, Plan, PlanMetadata, Regions, Reject, Workspace};

/// What selection thought of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It runs.
    Chosen {
        /// Its rank.
        rank: i32,
    },
    /// It could have run.
    Eligible {
        /// Its rank.
        rank: i32,
    },
    /// It does not apply: the first reason.
    Rejected(Reject),
}

/// One row that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Considered {
    /// The row.
    pub name: String,
    /// What selection thought of it.
    pub verdict: Verdict,
}

/// How a choice came about, for one bucket.
#[derive(Clone, Debug)]
pub struct Record {
    /// The sizes.
    pub bucket: Bucket,
    /// The row that runs.
    pub spec: KernelSpec,
    /// Every row that was looked at, in byte order of the names.
    pub considered: Vec<Considered>,
    /// Why this row and no other eligible one, in words: rank, override, profile.
    pub because: String,
}

/// A prepared operator that cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PreparedError {
    /// As many plans as buckets are needed.
    #[error("{operation}: {plans} plans for {buckets} buckets")]
    Count {
        /// The operation.
        operation: &'static str,
        /// Plans given.
        plans: usize,
        /// Buckets of the request.
        buckets: usize,
    },
    /// Two buckets want the one weight packed in two ways.
    #[error(
        "{operation}: bucket {first} packs its weight as `{first_layout}`, bucket {second} as `{second_layout}`; buckets of one weight share a layout"
    )]
    Layouts {
        /// The operation.
        operation: &'static str,
        /// One bucket.
        first: Bucket,
        /// Its layout.
        first_layout: String,
        /// Another bucket.
        second: Bucket,
        /// Its layout.
        second_layout: String,
    },
}

/// A call that was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// The call breaks the contract. Nothing was launched.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The launch failed, or the data had a fault.
    #[error("{operation}: kernel `{kernel}` failed for problem [{problem}] on {stream}: {source}")]
    Launch {
        /// The operation.
        operation: &'static str,
        /// The row.
        kernel: String,
        /// The problem's facts.
        problem: String,
        /// The stream and its device, in words.
        stream: String,
        /// What went wrong.
        source: LaunchError,
    },
}

struct Bound<O: Operator> {
    plan: Arc<dyn Plan<O>>,
    regions: Regions,
}

/// An operator made ready for one problem on one device: immutable, `Send + Sync`, holding everything that it launches.
pub struct Prepared<O: Operator> {
    problem: O::Problem,
    specs: ArgSpecs,
    key: DeviceKey,
    mode: ExecutionMode,
    generation: u64,
    buckets: Buckets,
    plans: Vec<Bound<O>>,
    records: Vec<Record>,
    regions: Regions,
    layout: Option<PackedLayout>,
    synchronise: bool,
}

impl<O: Operator> Prepared<O> {
    /// Puts a prepared operator together: one plan and one record for each bucket, in order.
    ///
    /// # Errors
    /// [`PreparedError`] when the counts differ, or two buckets pack one weight differently.
    pub fn new(
        problem: O::Problem,
        device: DeviceId,
        key: DeviceKey,
        mode: ExecutionMode,
        generation: u64,
        buckets: Buckets,
        plans: Vec<(Arc<dyn Plan<O>>, Record)>,
    ) -> Result<Self, PreparedError> {
        let count = buckets.iter().count();
        if plans.len() != count {
            return Err(PreparedError::Count { operation: O::NAME, plans: plans.len(), buckets: count });
        }
        let layout = shared_layout(&plans)?;
        let mut specs = O::describe(&problem).on(device);
        if let Some(layout) = &layout {
            specs = specs.with_layout(layout.id, layout.bytes, layout.align);
        }
        let (plans, records): (Vec<_>, Vec<_>) = plans.into_iter().unzip();
        let bound = |plan: Arc<dyn Plan<O>>| Bound { regions: plan.workspace(), plan };
        let plans: Vec<Bound<O>> = plans.into_iter().map(bound).collect();
        let regions = plans.iter().map(|b| b.regions).fold(Regions::default(), Regions::max);
        let synchronise = false;
        Ok(Prepared { problem, specs, key, mode, generation, buckets, plans, records, regions, layout, synchronise })
    }

    /// The same operator, synchronising after each launch: for finding out which call fails.
    #[must_use]
    pub fn synchronising(mut self, synchronise: bool) -> Self {
        self.synchronise = synchronise;
        self
    }

    /// The problem.
    pub fn problem(&self) -> &O::Problem {
        &self.problem
    }

    /// The arguments that a call must have.
    pub fn specs(&self) -> &ArgSpecs {
        &self.specs
    }

    /// The device.
    pub fn device(&self) -> DeviceId {
        self.specs.device()
    }

    /// What selection knew of the device.
    pub fn key(&self) -> &DeviceKey {
        &self.key
    }

    /// The execution mode that it was selected for.
    pub fn mode(&self) -> ExecutionMode {
        self.mode
    }

    /// The registry's generation when it was made.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How each bucket's row was chosen, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// What the plan of each bucket says of itself, in order.
    pub fn metadata(&self) -> impl Iterator<Item = PlanMetadata> + '_ {
        self.plans.iter().map(|bound| bound.plan.metadata())
    }

    /// Workspace that is enough for every bucket.
    pub fn workspace(&self) -> Regions {
        self.regions
    }

    /// The layout in which the weight must be packed; `None` for a plain tensor.
    pub fn packed(&self) -> Option<&PackedLayout> {
        self.layout.as_ref()
    }

    /// Packs a plain weight for every bucket at once.
    ///
    /// # Errors
    /// [`EnqueueError::Launch`].
    ///
    /// # Safety
    /// - As [`Plan::pack`].
    pub unsafe fn pack(&self, source: &RawTensor, target: *mut u8, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
        // SAFETY: the caller vouches for clause 1 of `Plan::pack`; all buckets share the first one's layout.
        unsafe { self.plans[0].plan.pack(source, target, stream) }.map_err(|e| self.failed(0, stream, e))
    }

    /// Validates a call and answers its dynamic dimensions, without running it.
    ///
    /// # Errors
    /// [`ContractError`].
    #[inline]
    pub fn check(&self, args: &O::Args) -> Result<DynDims, ContractError> {
        O::check(&self.specs, args)
    }

    /// Validates and enqueues one call.
    ///
    /// # Errors
    /// [`EnqueueError::Contract`] before anything is launched, [`EnqueueError::Launch`] for the launch itself.
    ///
    /// # Safety
    /// - Every view of `args` and `workspace` is memory of the device, readable, and writable where its role says so,
    ///   until the work has finished, or as long as a graph that captured the call is replayed.
    /// - Nobody else writes the inputs or touches the outputs meanwhile.
    #[inline]
    pub unsafe fn enqueue(
        &self,
        args: &O::Args,
        workspace: Workspace,
        stream: StreamRef<'_>,
    ) -> Result<(), EnqueueError> {
        if stream.device() != self.specs.device() {
            return Err(self.foreign_stream(stream).into());
        }
        let index = self.admit(args, workspace)?;
        // SAFETY: the arguments passed the check just now; the caller vouches for the memory.
        unsafe { self.launch(index, args, workspace, stream) }
    }

    /// Enqueues a call that is known to be valid.
    ///
    /// # Errors
    /// [`EnqueueError::Launch`].
    ///
    /// # Safety
    /// - As [`Prepared::enqueue`].
    /// - [`Prepared::check`] would accept `args`, `workspace` is enough for [`Prepared::workspace`], and the stream is
    ///   one of [`Prepared::device`].
    #[inline]
    pub unsafe fn enqueue_unchecked(
        &self,
        args: &O::Args,
        workspace: Workspace,
        stream: StreamRef<'_>,
    ) -> Result<(), EnqueueError> {
        let index = match self.buckets.dim() {
            None => 0,
            Some(_) => self.index(&O::dims(&self.specs, args)),
        };
        // SAFETY: the caller vouches for both clauses of `Plan::enqueue`.
        unsafe { self.launch(index, args, workspace, stream) }
    }

    /// Validates arguments and workspace, and answers the bucket of the call.
    #[inline(always)]
    pub(crate) fn admit(&self, args: &O::Args, workspace: Workspace) -> Result<usize, EnqueueError> {
        let dims = O::check(&self.specs, args)?;
        let index = self.index(&dims);
        workspace.check(O::NAME, &self.plans[index].regions)?;
        Ok(index)
    }

    /// The plan of a bucket.
    pub(crate) fn plan(&self, index: usize) -> &Arc<dyn Plan<O>> {
        &self.plans[index].plan
    }

    /// Whether each launch is waited for.
    pub(crate) fn synchronises(&self) -> bool {
        self.synchronise
    }

    #[inline]
    fn index(&self, dims: &DynDims) -> usize {
        self.buckets.dim().map_or(0, |d| self.buckets.index(dims.get(d as usize)))
    }

    /// # Safety
    /// - As [`Prepared::enqueue_unchecked`], for the bucket `index`.
    #[inline]
    pub(crate) unsafe fn launch(
        &self,
        index: usize,
        args: &O::Args,
        workspace: Workspace,
        stream: StreamRef<'_>,
    ) -> Result<(), EnqueueError> {
        if stream.is_recording() {
            return self.record(index, *args, workspace, stream);
        }
        // SAFETY: the clauses of `Plan::enqueue` are those of this function's callers.
        let mut result = unsafe { self.plans[index].plan.enqueue(args, workspace, stream) };
        // What a driver captures has not run, and cannot be waited for.
        if self.synchronise && result.is_ok() && !stream.is_capturing() {
            result = stream.synchronize().map_err(LaunchError::from);
        }
        result.map_err(|e| self.failed(index, stream, e))
    }

    #[cold]
    fn record(
        &self,
        index: usize,
        args: O::Args,
        workspace: Workspace,
        stream: StreamRef<'_>,
    ) -> Result<(), EnqueueError> {
        let spec = &self.records[index].spec;
        if !spec.modes.contains(&ExecutionMode::Graph) {
            let what = format!("{} cannot be captured: it runs in eager mode only", spec.name);
            return Err(self.failed(index, stream, DeviceError::State { device: self.device(), what }.into()));
        }
        let (plan, problem, kernel) = (Arc::clone(&self.plans[index].plan), self.problem, spec.name.clone());
        let call = Box::new(move |stream: StreamRef<'_>| {
            // SAFETY: whoever captured the call vouched that its memory lives as long as the graph is replayed.
            let launched = unsafe { plan.enqueue(&args, workspace, stream) };
            launched.map_err(|source| LaunchError::Replay {
                call: format!(
                    "{}: kernel `{kernel}` failed for problem [{}] in a graph",
                    O::NAME,
                    O::all_facts(&problem)
                ),
                source: Box::new(source),
            })
        });
        stream.record(call).map_err(|e| self.failed(index, stream, e.into()))
    }

    #[cold]
    pub(crate) fn failed(&self, index: usize, stream: StreamRef<'_>, source: LaunchError) -> EnqueueError {
        EnqueueError::Launch {
            operation: O::NAME,
            kernel: self.records[index].spec.name.clone(),
            problem: O::all_facts(&self.problem).to_string(),
            stream: format!("{stream:?}"),
            source,
        }
    }

    #[cold]
    pub(crate) fn foreign_stream(&self, stream: StreamRef<'_>) -> ContractError {
        ContractError {
            operation: O::NAME,
            argument: "stream",
            clause: Clause::Device,
            expected: self.specs.device().to_string(),
            actual: stream.device().to_string(),
        }
    }
}

/// The one layout of all plans, or none at all.
fn shared_layout<O: Operator>(plans: &[(Arc<dyn Plan<O>>, Record)]) -> Result<Option<PackedLayout>, PreparedError> {
    let text = |l: Option<&PackedLayout>| l.map_or_else(|| "plain".to_owned(), |l| l.description.clone());
    let Some((first, first_record)) = plans.first() else { return Ok(None) };
    for (plan, record) in &plans[1..] {
        if plan.packed() != first.packed() {
            return Err(PreparedError::Layouts {
                operation: O::NAME,
                first: first_record.bucket,
                first_layout: text(first.packed()),
                second: record.bucket,
                second_layout: text(plan.packed()),
            });
        }
    }
    Ok(first.packed().filter(|l| l.id != LayoutId::PLAIN).cloned())
}

impl<O: Operator> fmt::Debug for Prepared<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} prepared for [{}] on {}", O::NAME, O::all_facts(&self.problem), self.specs.device())
    }
}
