// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Plans: what is prepared of a problem, and a call.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opweave_contract::{ArgSpecs, DynDims, Operator};
use opweave_device::{Buffer, DeviceError, LaunchError, StreamRef};
use opweave_device_npu::{Context, NpuBuffer};
use opweave_registry::{PackedLayout, Plan, PlanMetadata, PrepareContext, PrepareError, Region, Regions, Workspace};
use opweave_tensor::RawTensor;

use crate::executor::Asked;
use crate::operation::{Found, Operation};
use crate::program::{ALIGN, Program, Step};
use crate::sample::Sample;
use crate::vendor::Vendor;

/// Executors kept for a plan at most.
const MAX_KEPT: usize = 192;
/// A fault buffer that is never read or written: in advance nobody has one.
const FAULTS: *mut u8 = std::ptr::without_provenance_mut(1 << 40);

/// An executor that is kept, for steps that are equal but for their addresses. One call at a time has it.
struct Kept {
    step: Step,
    taken: AtomicBool,
    asked: UnsafeCell<Asked>,
}

// SAFETY: `asked` is used by whoever has set `taken`, and by nobody else.
unsafe impl Sync for Kept {}

/// A problem's operators, found, sized and asked in advance.
pub(crate) struct VendorPlan<O: Vendor> {
    problem: O::Problem,
    context: Arc<Context>,
    found: Vec<Found>,
    kept: Vec<Kept>,
    regions: Regions,
    layout: Option<PackedLayout>,
}

/// Bytes of the workspace of a whole call: its own tensors, and behind them what the hungriest of its operators wants.
fn bytes_of(program: &Program, operators: usize) -> Option<usize> {
    let total = program.scratch().checked_add(operators)?;
    (total <= isize::MAX as usize).then_some(total)
}

impl<O: Vendor> VendorPlan<O> {
    /// Goes through the first phase for the sizes that the problem bounds.
    pub(crate) fn new(problem: &O::Problem, cx: &PrepareContext<'_>) -> Result<Self, PrepareError> {
        let bounds = bounds::<O>(problem, cx)?;
        let context = Context::primary(cx.device)?;
        let _current = context.enter()?;
        let find = |operation: &&'static Operation| {
            operation.find(context.cann()).map_err(|error| match error {
                opweave_device_npu::LoadError::Symbol(missing) => DeviceError::from(missing),
                error => DeviceError::MissingLibrary { library: "libopapi".to_owned(), reason: error.to_string() },
            })
        };
        let found = O::OPERATIONS.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mut plan = VendorPlan::<O> {
            problem: *problem,
            context: context.clone(),
            found,
            kept: Vec::new(),
            regions: Regions::default(),
            layout: O::layout(problem),
        };
        let specs = O::describe(problem).on(cx.device);
        let mut bytes = 0_usize;
        for dims in sizes(&bounds) {
            bytes = bytes.max(plan.ask(&specs, dims, false)?);
        }
        bytes = bytes.max(plan.ask(&specs, DynDims::new(&bounds), true)?);
        plan.regions.scratch = Region::new(bytes, ALIGN);
        Ok(plan)
    }

    /// Asks the first phase about calls of these sizes: the workspace that they take. Keeps what can be kept.
    fn ask(&mut self, specs: &ArgSpecs, dims: DynDims, worst: bool) -> Result<usize, PrepareError> {
        let state = |what: &str| DeviceError::State { device: self.context.device(), what: what.to_owned() };
        let too_large = "a call of the sizes that the problem bounds takes more memory than there can be";
        let sample = Sample { device: self.context.device(), dims, worst };
        let Some(args) = sample.args::<O>(specs) else { return Err(state(too_large).into()) };
        let mut program = Program::new(Some(FAULTS));
        O::program(&self.problem, &args, &mut program);
        if let Some(fault) = program.fault() {
            return Err(state(fault).into());
        }
        let mut operators = 0;
        for step in program.steps() {
            let mut asked = Asked::new(&self.context, self.found_of(step)?, step, std::ptr::null_mut())?;
            operators = operators.max(asked.bytes());
            let known = self.kept.iter().any(|kept| kept.step.same(step));
            if !worst && !known && self.kept.len() < MAX_KEPT && asked.keep()? {
                let (taken, asked) = (AtomicBool::new(false), UnsafeCell::new(asked));
                self.kept.push(Kept { step: *step, taken, asked });
            }
        }
        bytes_of(&program, operators).ok_or_else(|| state(too_large).into())
    }

    fn found_of(&self, step: &Step) -> Result<Found, DeviceError> {
        let of = |found: &&Found| std::ptr::eq(found.operation, step.operation);
        self.found.iter().find(of).copied().ok_or_else(|| DeviceError::State {
            device: self.context.device(),
            what: format!("{} is none of the operators of {}", step.operation.symbol, O::NAME),
        })
    }

    /// Refuses a stream of another device.
    fn is_of(&self, stream: StreamRef<'_>) -> Result<(), DeviceError> {
        if stream.device() == self.context.device() {
            return Ok(());
        }
        let what = format!("the plan is for this device and the stream is of {}", stream.device());
        Err(DeviceError::State { device: self.context.device(), what })
    }

    /// Launches one operator, by an executor that is kept for it and free, or through both phases.
    ///
    /// # Safety
    /// - As [`Plan::enqueue`]; the workspace begins at `scratch` and has `room` bytes for operators from `behind` on.
    unsafe fn launch(
        &self,
        step: &Step,
        scratch: *mut u8,
        behind: *mut u8,
        room: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let kept = self.kept.iter().find(|kept| kept.step.same(step) && !kept.taken.swap(true, Ordering::Acquire));
        if let Some(kept) = kept {
            let release = Release(&kept.taken);
            // SAFETY: `taken` was ours to set, and is so until `release` is dropped.
            let asked = unsafe { &mut *kept.asked.get() };
            if asked.bytes() <= room && asked.tell(step, scratch)? {
                // SAFETY: the caller's clauses; the workspace has room.
                let launched = unsafe { asked.launch(behind, stream.raw()) };
                drop(release);
                return Ok(launched?);
            }
        }
        let mut asked = Asked::new(&self.context, self.found_of(step)?, step, scratch)?;
        if asked.bytes() > room {
            let (symbol, wants) = (step.operation.symbol, asked.bytes());
            return Err(LaunchError::Refused(format!(
                "{symbol} wants {wants} bytes of workspace, of which {room} are left"
            )));
        }
        // SAFETY: the caller's clauses; the workspace has room.
        Ok(unsafe { asked.launch(behind, stream.raw()) }?)
    }
}

/// Gives a kept executor back.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The largest size of each dynamic dimension, by the problem's bounds and the bucket.
fn bounds<O: Operator>(problem: &O::Problem, cx: &PrepareContext<'_>) -> Result<Vec<usize>, PrepareError> {
    let dims = &O::signature().dims;
    let of_bucket = |index: usize| {
        let here = cx.bucket.dim.is_some_and(|dim| usize::from(dim) == index);
        (here && cx.bucket.high != usize::MAX).then_some(cx.bucket.high)
    };
    let bound = |index: usize| match (O::bounds(problem).get(index), of_bucket(index)) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (bound, None) => bound,
        (None, bound) => bound,
    };
    let missing: Vec<&'static str> =
        dims.iter().enumerate().filter(|(index, _)| bound(*index).is_none()).map(|(_, dim)| dim.name).collect();
    if !missing.is_empty() {
        return Err(PrepareError::Bounds { operation: O::NAME, dims: missing });
    }
    Ok((0..dims.len()).filter_map(bound).collect())
}

/// Sizes to be asked about: the largest, and of an operator with one dynamic dimension all powers of two below, of which decoding
/// has most.
fn sizes(bounds: &[usize]) -> Vec<DynDims> {
    let mut sizes = vec![DynDims::new(bounds)];
    if let [bound] = *bounds {
        let powers = (0..12).map(|k| 1_usize << k).take_while(|&size| size < bound);
        sizes.extend(powers.map(|size| DynDims::new(&[size])));
    }
    sizes
}

impl<O: Vendor> Plan<O> for VendorPlan<O> {
    fn workspace(&self) -> Regions {
        self.regions
    }

    fn packed(&self) -> Option<&PackedLayout> {
        self.layout.as_ref()
    }

    /// Done when it returns: nobody gave it a workspace, so it has its own, once in the life of a weight.
    unsafe fn pack(&self, source: &RawTensor, target: *mut u8, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let Some(layout) = &self.layout else {
            return Err(LaunchError::Refused(
                "this plan reads its weight as a plain tensor and packs nothing".to_owned(),
            ));
        };
        self.is_of(stream)?;
        let mut program = Program::new(None);
        let target = RawTensor::packed(target, self.context.device(), layout.bytes, layout.id);
        O::pack(&self.problem, source, &target, &mut program);
        if let Some(fault) = program.fault() {
            return Err(LaunchError::Refused(fault.to_owned()));
        }
        let _current = self.context.enter()?;
        let mut room = 0;
        for step in program.steps() {
            room = room.max(Asked::new(&self.context, self.found_of(step)?, step, std::ptr::null_mut())?.bytes());
        }
        let bytes = bytes_of(&program, room)
            .ok_or_else(|| LaunchError::Refused("packing takes more memory than there can be".to_owned()))?;
        let memory = NpuBuffer::new(self.context.clone(), bytes, ALIGN)?;
        let behind = memory.data().wrapping_add(program.scratch());
        for step in program.steps() {
            // SAFETY: the caller's clauses for weight and target; the memory is divided as the program says.
            unsafe { self.launch(step, memory.data(), behind, room, stream) }?;
        }
        // The memory is not freed before the work is done.
        Ok(stream.synchronize()?)
    }

    fn metadata(&self) -> PlanMetadata {
        let names: Vec<&str> = O::OPERATIONS.iter().map(|operation| operation.symbol).collect();
        PlanMetadata {
            libraries: vec![("CANN".to_owned(), self.context.cann().version().to_string())],
            launch: vec![
                ("aclnn.operators".to_owned(), names.join(" ")),
                ("aclnn.kept_executors".to_owned(), self.kept.len().to_string()),
            ],
            ..PlanMetadata::default()
        }
    }

    unsafe fn enqueue(&self, args: &O::Args, workspace: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        self.is_of(stream)?;
        let mut program = Program::new(stream.faults().map(|faults| faults.device_pointer().cast()));
        O::program(&self.problem, args, &mut program);
        if let Some(fault) = program.fault() {
            return Err(LaunchError::Refused(fault.to_owned()));
        }
        let (scratch, bytes) = workspace.scratch;
        let Some(room) = bytes.checked_sub(program.scratch()) else {
            let wants = program.scratch();
            return Err(LaunchError::Refused(format!("the call wants {wants} bytes of workspace and has {bytes}")));
        };
        let behind = scratch.wrapping_add(program.scratch());
        let _current = self.context.enter()?;
        for step in program.steps() {
            // SAFETY: the caller's clauses; the workspace was sized by the check, and is divided as the program says.
            unsafe { self.launch(step, scratch, behind, room, stream) }?;
        }
        Ok(())
    }
}
