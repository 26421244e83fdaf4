// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One implementation of a case, with device memory of its own.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use opweave_contract::{ArgSource, ArgVisitor, Cost, Role, ScalarParam, TensorSpec};
use opweave_device::{Buffer, Device, FaultSink, Instruments, LaunchError, Stream, StreamRef, operation_code};
use opweave_reference::{FaultAt, Reference};
use opweave_registry::{Considered, EnqueueError, ExecutionMode, Prepared, Row};
use opweave_tensor::{LayoutId, RawTensor};

use super::fixture::Seed;
use super::memory::{Lent, allocate, copy, download, upload};
use super::prepare::{describe, prepare};
use super::{CaseError, Exchange, Fixture, How, Judgement};
use crate::compare::check_structure;
use crate::host::{HostError, HostTensor};
use crate::report::{FindingKind, Implementation, InputOrigin};

/// What a case is prepared on.
#[derive(Clone, Copy)]
pub struct PrepareOn<'a> {
    /// The device.
    pub device: &'a Arc<dyn Device>,
    /// The row.
    pub row: &'a Row,
    /// The execution mode.
    pub mode: ExecutionMode,
    /// Generation of the registry.
    pub generation: u64,
    /// Every row that was looked at.
    pub considered: &'a [Considered],
}

/// A fixture without its operator's type.
pub trait PreparedSource: Send {
    /// Where real inputs came from.
    fn origins(&self) -> &[InputOrigin];
    /// Prepares an implementation, with outputs and workspaces of its own.
    ///
    /// # Errors
    /// [`CaseError`].
    fn prepare(&self, on: &PrepareOn<'_>) -> Result<Box<dyn PreparedCase>, CaseError>;
    /// Draws now what a validation in graph mode changes inputs to: it may happen on another thread than the validation.
    ///
    /// # Errors
    /// As drawing the case itself.
    fn draw_changes(&self) -> Result<(), CaseError>;
    /// Writes what the call reads to a safetensors file, for another program.
    ///
    /// # Errors
    /// [`CaseError::Environment`]: the file cannot be written, or the case has tensors that share memory.
    fn export(&self, path: &Path) -> Result<Exchange, CaseError>;
    /// Judges the outputs that another program made of an exported case, from a safetensors file.
    ///
    /// # Errors
    /// [`CaseError::Environment`]: the file cannot be read, or an output is missing or of another dtype or shape.
    fn judge_file(&self, path: &Path) -> Result<Judgement, CaseError>;
}

/// A case prepared on one implementation: what validation judges and what a benchmark times.
pub trait PreparedCase {
    /// What it runs on.
    fn implementation(&self) -> &Implementation;
    /// Time of making the plan, in microseconds.
    fn preparation_us(&self) -> f64;
    /// What a call costs at least.
    fn cost(&self) -> Cost;
    /// Bytes of memory that one set of its arguments takes, the guard bands of tensors and packed weights included: of a table of
    /// which a call reads a row, the whole table.
    fn memory(&self) -> u64;
    /// Whether a call changes what it reads, so that the next one needs [`PreparedCase::reset`] to compute the same.
    fn has_reset(&self) -> bool;
    /// Restores every argument to what it was before the first call.
    ///
    /// # Errors
    /// [`CaseError::Device`].
    fn reset(&mut self) -> Result<(), CaseError>;
    /// Enqueues the copies that do on the device what [`PreparedCase::reset`] does from the host: they can be captured, and
    /// cost no transfer. The case and its twins share one set of images to copy from.
    ///
    /// # Errors
    /// [`CaseError::Device`], [`CaseError::Launch`].
    fn restore(&self, instruments: &dyn Instruments, stream: StreamRef<'_>) -> Result<(), CaseError>;
    /// Enqueues one checked call on `stream`, which must be of the case's device.
    ///
    /// # Errors
    /// [`CaseError::Enqueue`].
    fn launch(&self, stream: StreamRef<'_>) -> Result<(), CaseError>;
    /// Reads what a call of this case is made of, its arguments though not their memory: a caller that has just put them together
    /// finds them in the caches, and so should a timed call, wherever its cold tensors lie.
    fn touch(&self);
    /// Validates the implementation on this case.
    ///
    /// # Errors
    /// [`CaseError`] when there is no judgement. A wrong result is a finding of the judgement.
    fn validate(&mut self, how: &How<'_>) -> Result<Judgement, CaseError>;
    /// The same prepared operator on memory of its own: for graphs of independent calls, and to rotate inputs through more
    /// than a cache holds.
    ///
    /// # Errors
    /// [`CaseError`].
    fn twin(&self) -> Result<Box<dyn PreparedCase>, CaseError>;
    /// The same prepared operator on the memory of `other`, which is of the same fixture: where two implementations are compared,
    /// what pages they happened to get is no difference between them. A packed weight and workspaces stay its own.
    ///
    /// # Errors
    /// [`CaseError`]; [`CaseError::Environment`] if `other` is of another fixture.
    fn twin_on(&self, other: &dyn PreparedCase) -> Result<Box<dyn PreparedCase>, CaseError>;
    /// The case by its type.
    fn as_any(&self) -> &dyn Any;
}

impl<O: Reference> PreparedSource for Arc<Fixture<O>> {
    fn origins(&self) -> &[InputOrigin] {
        &self.origins
    }

    fn prepare(&self, on: &PrepareOn<'_>) -> Result<Box<dyn PreparedCase>, CaseError> {
        let start = Instant::now();
        let prepared = Arc::new(prepare::<O>(self, on)?);
        let preparation_us = start.elapsed().as_secs_f64() * 1e6;
        let implementation = describe(on.row, &prepared);
        let common = Common { prepared, device: Arc::clone(on.device), implementation, preparation_us };
        Ok(Box::new(Instance::new(Arc::clone(self), Arc::new(common))?))
    }

    fn draw_changes(&self) -> Result<(), CaseError> {
        self.again(Seed::Next)?;
        self.again(Seed::AfterNext)?;
        Ok(())
    }

    fn export(&self, path: &Path) -> Result<Exchange, CaseError> {
        Fixture::export(self, path)
    }

    fn judge_file(&self, path: &Path) -> Result<Judgement, CaseError> {
        Fixture::judge_file(self, path)
    }
}

/// What twins share.
pub(super) struct Common<O: Reference> {
    pub(super) prepared: Arc<Prepared<O>>,
    pub(super) device: Arc<dyn Device>,
    pub(super) implementation: Implementation,
    preparation_us: f64,
}

/// Device memory of each tensor that has some.
type Buffers = Vec<Option<Box<dyn Buffer>>>;

/// The same where several implementations may use it in turns.
type Memory = Rc<RefCell<Buffers>>;

/// A fixture on a device.
pub(super) struct Instance<O: Reference> {
    pub(super) fixture: Arc<Fixture<O>>,
    pub(super) common: Arc<Common<O>>,
    buffers: Memory,
    packed: Option<(usize, Box<dyn Buffer>)>,
    lent: Lent,
    pub(super) stream: Rc<dyn Stream>,
    pub(super) faults: Rc<dyn FaultSink>,
    originals: Rc<OnceCell<Buffers>>,
    args: O::Args,
}

// SAFETY comments of the launches below speak for this type: its buffers live as long as it does, and it is used by one
// thread at a time.
impl<O: Reference> Instance<O> {
    pub(super) fn new(fixture: Arc<Fixture<O>>, common: Arc<Common<O>>) -> Result<Instance<O>, CaseError> {
        let (stream, faults) = (Rc::from(common.device.stream()?), Rc::from(common.device.faults()?));
        let images = fixture.before.iter().map(|tensor| image(&*common.device, tensor.as_ref()));
        let buffers = images.collect::<Result<Buffers, _>>()?;
        let memory = Rc::new(RefCell::new(buffers));
        let instance = Instance::with(fixture, common, memory, stream, faults, Rc::default())?;
        instance.pack()?;
        Ok(instance)
    }

    /// An instance on these buffers, and on what twins share, with its weight yet to be packed.
    fn with(
        fixture: Arc<Fixture<O>>,
        common: Arc<Common<O>>,
        buffers: Memory,
        stream: Rc<dyn Stream>,
        faults: Rc<dyn FaultSink>,
        originals: Rc<OnceCell<Buffers>>,
    ) -> Result<Instance<O>, CaseError> {
        let device = &*common.device;
        let packed = match common.prepared.packed() {
            Some(layout) => {
                let index = common.prepared.specs().tensors().position(|s| s.layout != LayoutId::PLAIN);
                index.map(|i| Ok::<_, CaseError>((i, device.allocate(layout.bytes, layout.align)?))).transpose()?
            }
            None => None,
        };
        let lent = Lent::new(device, common.prepared.workspace())?;
        let views = buffers.borrow();
        let mut source = Views { fixture: &fixture, buffers: &views, packed: packed.as_ref(), device: device.id() };
        let args = O::assemble(common.prepared.specs(), &mut source)?;
        drop(views);
        Ok(Instance { fixture, common, buffers, packed, lent, stream, faults, originals, args })
    }

    /// What the tensors that calls rewrite held before the first, in device memory; made when it is first asked for.
    fn originals(&self) -> Result<&Buffers, CaseError> {
        if let Some(originals) = self.originals.get() {
            return Ok(originals);
        }
        let changed: Vec<usize> = rewritten(&self.fixture).collect();
        let kept = |(index, tensor): (usize, &Option<HostTensor>)| {
            image(&*self.common.device, tensor.as_ref().filter(|_| changed.contains(&index)))
        };
        let made = self.fixture.before.iter().enumerate().map(kept).collect::<Result<Buffers, _>>()?;
        Ok(self.originals.get_or_init(|| made))
    }

    /// Packs the weight where the plan wants that.
    fn pack(&self) -> Result<(), CaseError> {
        let Some((index, target)) = &self.packed else { return Ok(()) };
        let buffers = self.buffers.borrow();
        let mut source =
            Views { fixture: &self.fixture, buffers: &buffers, packed: None, device: self.common.device.id() };
        let Some(spec) = self.fixture.specs.tensor(*index) else { return Ok(()) };
        let plain = source.tensor(*index, spec)?;
        // SAFETY: clause 1 of `Prepared::pack`: both buffers belong to this instance and were allocated for the layout.
        unsafe { self.common.prepared.pack(&plain, target.data(), self.stream.borrow()) }?;
        Ok(self.stream.synchronize()?)
    }

    /// Takes over the packed weight of an instance of the same plan.
    fn pack_as(&mut self, other: &Instance<O>) -> Result<(), CaseError> {
        if let (Some((_, packed)), Some((_, theirs))) = (&mut self.packed, &other.packed) {
            packed.copy_from(&**theirs)?;
        }
        Ok(())
    }

    /// Where the weight lies that calls of this plan see packed only.
    fn packed_home(&self) -> Option<usize> {
        self.packed.as_ref().map(|&(index, _)| self.fixture.homes[index])
    }

    /// Adds what calls of this plan read and `memory` lacks, because the plan that it was made for sees it packed.
    fn supply(&self, memory: &Memory) -> Result<(), CaseError> {
        if Rc::ptr_eq(&self.buffers, memory) {
            return Ok(());
        }
        for (home, (mine, theirs)) in self.buffers.borrow().iter().zip(&mut *memory.borrow_mut()).enumerate() {
            if theirs.is_none() && Some(home) != self.packed_home() {
                *theirs = copy(&*self.common.device, mine.as_deref())?;
            }
        }
        Ok(())
    }

    /// Writes the images of another fixture of the same case into this instance's memory: inputs changed in place.
    pub(super) fn load(&mut self, fixture: &Fixture<O>) -> Result<(), CaseError> {
        for (tensor, buffer) in fixture.before.iter().zip(&mut *self.buffers.borrow_mut()) {
            match (tensor, &mut *buffer) {
                (Some(tensor), Some(buffer)) => upload(tensor, &mut **buffer)?,
                // A twin has no weight to pack until it has to.
                (Some(tensor), None) => *buffer = image(&*self.common.device, Some(tensor))?,
                (None, _) => {}
            }
        }
        self.lent.soil()?;
        self.pack()
    }

    /// Fetches every image back.
    pub(super) fn fetch(&self) -> Result<Vec<Option<HostTensor>>, CaseError> {
        let fetch = |(tensor, buffer): (&Option<HostTensor>, &Option<Box<dyn Buffer>>)| match (tensor, buffer) {
            (Some(tensor), Some(buffer)) => download(tensor, &**buffer).map(Some),
            _ => Ok(None),
        };
        self.fixture.before.iter().zip(&*self.buffers.borrow()).map(fetch).collect()
    }

    /// Enqueues one call on `stream`.
    pub(super) fn enqueue(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
        // SAFETY: clauses 1 and 2 of `Prepared::enqueue`: memory of this instance, which outlives its own stream and graphs.
        unsafe { self.common.prepared.enqueue(&self.args, self.lent.workspace(), stream) }
    }

    /// Runs the fixture's call once on fresh memory and answers the images after it; faults and unclean workspaces become
    /// findings.
    pub(super) fn run(&mut self, judgement: &mut Judgement) -> Result<Vec<Option<HostTensor>>, CaseError> {
        let fixture = Arc::clone(&self.fixture);
        self.load(&fixture)?;
        let launched = self.enqueue(self.stream.borrow().with_faults(&*self.faults));
        self.settle(launched, &fixture.faults, judgement)?;
        self.fetch()
    }

    /// Waits for a call and holds what it raised against `expected`. Of several faults the first to be written stays, and
    /// which that is, is the device's affair: any of them will do, and none will not.
    pub(super) fn settle(
        &mut self,
        launched: Result<(), EnqueueError>,
        expected: &[FaultAt],
        judgement: &mut Judgement,
    ) -> Result<(), CaseError> {
        match launched {
            // The stream has a fault buffer, so a fault is no error of the launch.
            Err(EnqueueError::Launch { source: LaunchError::Fault(fault), .. }) => {
                judgement.find(FindingKind::Fault, format!("a fault ended the call although it has a buffer: {fault}"));
            }
            launched => launched?,
        }
        self.stream.synchronize()?;
        let words = |FaultAt { clause, row }: FaultAt| {
            let clause = O::signature().faults.get(clause as usize).copied().unwrap_or("unknown clause");
            format!("{clause} in row {row}")
        };
        match (self.faults.take()?, expected.first()) {
            (None, None) => {}
            (None, Some(&first)) => {
                let more = expected.len() - 1;
                let text = format!("expected fault was not raised: {} (or one of {more} more)", words(first));
                judgement.find(FindingKind::Fault, text);
            }
            (Some(fault), _) => {
                let at = FaultAt { clause: fault.clause, row: fault.row };
                if fault.operation != operation_code(O::NAME) {
                    let text = format!("unexpected fault of operation {:08x}: {}", fault.operation, words(at));
                    judgement.find(FindingKind::Fault, text);
                } else if !expected.contains(&at) {
                    judgement.find(FindingKind::Fault, format!("unexpected fault: {}", words(at)));
                }
            }
        }
        if !self.lent.is_clean()? {
            judgement.find(FindingKind::Guard, "the zeroed workspace was not left zero".to_owned());
        }
        Ok(())
    }

    /// Structure of the bound outputs against what inference says, and byte ranges of outputs against everything else.
    fn structure(&self, judgement: &mut Judgement) {
        let mut bound = Bound(Vec::new());
        O::visit(&self.args, &mut bound);
        let specs = self.common.prepared.specs();
        let inferred = specs.outputs(&self.fixture.case.dyn_dims());
        let views: Vec<(usize, &TensorSpec, RawTensor)> =
            specs.tensors().enumerate().filter_map(|(i, s)| Some((i, s, bound.0.get(i).copied()??))).collect();
        let actual: Vec<(&str, RawTensor)> =
            views.iter().filter(|(_, s, _)| s.role.writes()).map(|(_, s, view)| (s.name, *view)).collect();
        let expect = |(output, (_, view)): (&opweave_contract::OutputSpec, &(&str, RawTensor))| {
            let strides: &[isize] = if output.shape.len() == view.rank() { view.strides() } else { &[] };
            let expected = RawTensor::strided(view.data(), output.dtype, output.device, &output.shape, strides);
            Some((output.name, expected.ok()?))
        };
        let expected: Vec<(&str, RawTensor)> = inferred.iter().zip(&actual).filter_map(expect).collect();
        if let Err(difference) = check_structure(&expected, &actual) {
            judgement.find(FindingKind::Structure, difference.to_string());
        }
        for (index, spec, view) in views.iter().filter(|(_, s, _)| s.role.writes()) {
            let homes = &self.fixture.homes;
            let foreign = views.iter().filter(|(other, _, _)| other != index && homes[*other] != homes[*index]);
            for (_, other, shared) in foreign.filter(|(_, _, v)| opweave_contract::may_share(view, v)) {
                let text = format!("`{}` ({view:?}) shares bytes with `{}` ({shared:?})", spec.name, other.name);
                judgement.find(FindingKind::Aliasing, text);
            }
        }
    }

    fn eager(&mut self, how: &How<'_>) -> Result<Judgement, CaseError> {
        let mut judgement = Judgement::default();
        self.structure(&mut judgement);
        if !judgement.findings.is_empty() {
            return Ok(judgement);
        }
        let first = self.run(&mut judgement)?;
        let values = self.fixture.judge(&first)?;
        judgement.findings.extend(values.findings);
        judgement.leaves = values.leaves;
        (how.watch)()?;
        if self.common.implementation.deterministic {
            self.repeat(how, &first, &mut judgement)?;
        }
        if how.batch_invariance && self.common.implementation.batch_invariant {
            self.batch_invariance(how, &first, &mut judgement)?;
        }
        Ok(judgement)
    }

    /// Runs the case again and again: every bit must be the same.
    fn repeat(
        &mut self,
        how: &How<'_>,
        first: &[Option<HostTensor>],
        judgement: &mut Judgement,
    ) -> Result<(), CaseError> {
        for run in 2..=how.repeat {
            let again = self.run(judgement)?;
            if let Some((name, at)) = self.fixture.differing_outputs(first, &again).first() {
                let text = format!("run {run} differs from the first in `{name}`, at byte {at} from its start");
                judgement.find(FindingKind::Repeat, text);
                return Ok(());
            }
            (how.watch)()?;
        }
        Ok(())
    }
}

/// The tensors that a call both reads and writes, be it through an output in their memory.
fn rewritten<O: Reference>(fixture: &Fixture<O>) -> impl Iterator<Item = usize> {
    let written =
        |index| fixture.specs.tensors().enumerate().any(|(i, s)| s.role.writes() && fixture.homes[i] == index);
    fixture.specs.tensors().enumerate().filter(move |&(i, s)| s.role != Role::Out && written(i)).map(|(i, _)| i)
}

/// The image of a tensor in memory of its own.
fn image(device: &dyn Device, tensor: Option<&HostTensor>) -> Result<Option<Box<dyn Buffer>>, CaseError> {
    let Some(tensor) = tensor else { return Ok(None) };
    let mut buffer = allocate(device, tensor)?;
    upload(tensor, &mut *buffer)?;
    Ok(Some(buffer))
}

impl<O: Reference> PreparedCase for Instance<O> {
    fn implementation(&self) -> &Implementation {
        &self.common.implementation
    }

    fn preparation_us(&self) -> f64 {
        self.common.preparation_us
    }

    fn cost(&self) -> Cost {
        self.fixture.case.cost()
    }

    fn memory(&self) -> u64 {
        let tensors = self.buffers.borrow().iter().flatten().map(|buffer| buffer.bytes()).sum::<usize>();
        (tensors + self.packed.as_ref().map_or(0, |(_, packed)| packed.bytes())) as u64
    }

    fn has_reset(&self) -> bool {
        let rewritten = |(index, spec): (usize, &TensorSpec)| {
            spec.present && (spec.role == Role::InOut || (spec.role == Role::Out && self.fixture.homes[index] != index))
        };
        self.fixture.specs.tensors().enumerate().any(rewritten)
    }

    fn reset(&mut self) -> Result<(), CaseError> {
        let (fixture, mut buffers) = (Arc::clone(&self.fixture), self.buffers.borrow_mut());
        for index in rewritten(&fixture) {
            if let (Some(tensor), Some(buffer)) = (&fixture.before[index], &mut buffers[index]) {
                upload(tensor, &mut **buffer)?;
            }
        }
        Ok(())
    }

    fn restore(&self, instruments: &dyn Instruments, stream: StreamRef<'_>) -> Result<(), CaseError> {
        let originals = self.originals()?;
        for (original, buffer) in originals.iter().zip(&*self.buffers.borrow()) {
            if let (Some(original), Some(buffer)) = (original, buffer) {
                // SAFETY: clauses "readable, writable, no overlap, aligned": two allocations of the same size, made at the
                // alignment of images, which live as long as this case and with it as long as its graphs.
                unsafe { instruments.copy(original.data(), buffer.data(), original.bytes(), stream) }?;
            }
        }
        Ok(())
    }

    fn launch(&self, stream: StreamRef<'_>) -> Result<(), CaseError> {
        Ok(self.enqueue(stream)?)
    }

    fn touch(&self) {
        std::hint::black_box((self.args, self.lent.workspace(), self.common.prepared.specs()));
    }

    fn validate(&mut self, how: &How<'_>) -> Result<Judgement, CaseError> {
        if how.graph { self.graph(how) } else { self.eager(how) }
    }

    fn twin(&self) -> Result<Box<dyn PreparedCase>, CaseError> {
        let (fixture, common) = (Arc::clone(&self.fixture), Arc::clone(&self.common));
        let (stream, faults, originals) =
            (Rc::clone(&self.stream), Rc::clone(&self.faults), Rc::clone(&self.originals));
        // A device copies its own memory much faster than the host's, and benchmarks want hundreds of twins. What a call only
        // writes may hold what was written.
        stream.synchronize()?;
        let (device, firsts) = (&*common.device, self.originals()?);
        let now = self.buffers.borrow();
        // A weight that calls see packed is most of a case's memory, and as it was drawn no call of this plan reads it.
        let packed = self.packed_home();
        let copies = firsts.iter().zip(&*now).enumerate().map(|(home, (first, now))| {
            copy(device, first.as_deref().or(now.as_deref()).filter(|_| Some(home) != packed))
        });
        let memory = Rc::new(RefCell::new(copies.collect::<Result<Buffers, CaseError>>()?));
        let mut twin = Instance::with(fixture, Arc::clone(&common), memory, stream, faults, originals)?;
        twin.pack_as(self)?;
        Ok(Box::new(twin))
    }

    fn twin_on(&self, other: &dyn PreparedCase) -> Result<Box<dyn PreparedCase>, CaseError> {
        let other = other.as_any().downcast_ref::<Instance<O>>();
        let Some(other) = other.filter(|other| Arc::ptr_eq(&self.fixture, &other.fixture)) else {
            return Err(CaseError::Environment(format!(
                "{} cannot use the memory of another case",
                self.common.implementation.name
            )));
        };
        self.supply(&other.buffers)?;
        let mut twin = Instance::with(
            Arc::clone(&self.fixture),
            Arc::clone(&self.common),
            Rc::clone(&other.buffers),
            Rc::clone(&self.stream),
            Rc::clone(&self.faults),
            Rc::clone(&other.originals),
        )?;
        twin.pack_as(self)?;
        Ok(Box::new(twin))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Supplies views of an instance's buffers.
struct Views<'a, O: Reference> {
    fixture: &'a Fixture<O>,
    buffers: &'a [Option<Box<dyn Buffer>>],
    packed: Option<&'a (usize, Box<dyn Buffer>)>,
    device: opweave_tensor::DeviceId,
}

impl<O: Reference> ArgSource for Views<'_, O> {
    type Error = CaseError;

    fn tensor(&mut self, index: usize, spec: &TensorSpec) -> Result<RawTensor, CaseError> {
        if let Some((packed, buffer)) = self.packed
            && *packed == index
        {
            return Ok(RawTensor::packed(buffer.data(), self.device, spec.layout_bytes, spec.layout));
        }
        let home = self.fixture.homes[index];
        match (&self.fixture.before[home], &self.buffers[home]) {
            (Some(tensor), Some(buffer)) => Ok(tensor.view_at(buffer.data(), self.device)?),
            _ => Err(HostError::Count { expected: 1, actual: 0 }.into()),
        }
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        self.fixture.case.scalar_value(param)
    }
}

struct Bound(Vec<Option<RawTensor>>);

impl ArgVisitor for Bound {
    fn tensor(&mut self, _: usize, tensor: Option<&RawTensor>) {
        self.0.push(tensor.copied());
    }

    fn scalar(&mut self, _: usize, _: f64) {}
}
