// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A kernel for every operator that has a reference, right or wrong as a test asks: what the harness is tried on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use opweave_contract::{ArgVisitor, DynDims, OperationDecl, Operator, Role, ops};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, DeviceKind, LaunchError, RawFault, StreamRef, operation_code};
use opweave_numerics::suite::{ArgumentKind, Axis, Case, Suite, SuiteArgument, SuiteArguments, SuiteSet, tensor_suite};
use opweave_numerics::{Config, Ground, Interrupt, Report, RunError, Silent, codec, run, suites};
use opweave_reference::{Arguments, Reference, Values};
use opweave_registry::{
    FrozenRegistry, Kernel, KernelSpec, Needs, Plan, PrepareContext, PrepareError, Registry, Workspace,
};
use opweave_tensor::RawTensor;

/// What is wrong with a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Damage {
    /// Nothing.
    None,
    /// It writes nothing.
    Idle,
    /// It leaves the last row of outputs out.
    LastRow,
    /// It writes one element behind the last of each output.
    PastEnd,
    /// It writes one element behind each row of outputs.
    PastRow,
    /// It changes its first input.
    Input,
    /// It changes its weight.
    Weight,
    /// Its results change from call to call.
    Drift,
    /// A row alone comes out otherwise.
    Alone,
    /// A row's place in the batch shows.
    Place,
    /// It keeps the results of the first call with the same memory.
    Baked,
    /// It does not raise the faults of its data.
    NoFault,
    /// It raises the fault of its data in the next row.
    FaultRow,
    /// It raises the fault of its data only when its first call runs, not when a graph does.
    FaultOnce,
    /// It raises a fault.
    Fault,
    /// It raises a fault through the error of the launch.
    FaultError,
    /// It ignores this optional argument or scalar.
    Ignores(&'static str),
    /// It computes this fact with this value.
    Sibling(&'static str, &'static str),
    /// It leaves the results of other inputs: the rows in reverse.
    Reversed,
    /// It rounds towards zero.
    Truncates,
}

/// The kernel.
pub(crate) struct ByReference<O> {
    spec: KernelSpec,
    damage: Damage,
    operator: std::marker::PhantomData<fn() -> O>,
}

impl<O: Operator> ByReference<O> {
    pub(crate) fn new(name: &str, damage: Damage) -> Self {
        let spec = KernelSpec::new(format!("cpu.test.{}.{name}", O::NAME), "test", DeviceKind::Cpu, O::CONTRACTS);
        ByReference { spec, damage, operator: std::marker::PhantomData }
    }

    pub(crate) fn needs(mut self, needs: Needs) -> Self {
        self.spec.needs = needs;
        self
    }

    pub(crate) fn solution(mut self, solution: &str) -> Self {
        self.spec.solution = solution.to_owned();
        self
    }

    pub(crate) fn claims(mut self, deterministic: bool, batch_invariant: bool) -> Self {
        (self.spec.deterministic, self.spec.batch_invariant) = (deterministic, batch_invariant);
        self
    }
}

impl<O: Reference> Kernel<O> for ByReference<O> {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, problem: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        Ok(Arc::new(ReferencePlan::<O> {
            problem: *problem,
            damage: self.damage,
            calls: AtomicU64::new(0),
            baked: Mutex::new(Vec::new()),
        }))
    }
}

struct ReferencePlan<O: Operator> {
    problem: O::Problem,
    damage: Damage,
    calls: AtomicU64,
    baked: Mutex<Vec<(usize, Vec<Vec<u64>>)>>,
}

#[derive(Default)]
struct Seen {
    tensors: Vec<Option<RawTensor>>,
    scalars: Vec<f64>,
}

impl ArgVisitor for Seen {
    fn tensor(&mut self, _: usize, tensor: Option<&RawTensor>) {
        self.tensors.push(tensor.copied());
    }
    fn scalar(&mut self, _: usize, value: f64) {
        self.scalars.push(value);
    }
}

/// Addresses of the elements of a view in row-major order.
fn addresses(view: &RawTensor) -> Vec<*mut u8> {
    let size = (view.dtype().bits() / 8) as isize;
    let mut out = Vec::new();
    for mut rest in 0..view.elements() {
        let mut offset = 0;
        for axis in (0..view.rank()).rev() {
            offset += view.stride(axis) * (rest % view.dim(axis)) as isize;
            rest /= view.dim(axis);
        }
        out.push(view.data().wrapping_offset(offset * size));
    }
    out
}

fn read(at: *const u8, size: usize) -> u64 {
    let mut word = [0; 8];
    // SAFETY: clause 2 of `Plan::enqueue`: the views of a call are readable.
    unsafe { at.copy_to_nonoverlapping(word.as_mut_ptr(), size) };
    u64::from_le_bytes(word)
}

fn write(at: *mut u8, bits: u64, size: usize) {
    // SAFETY: clause 2 of `Plan::enqueue`: outputs are writable; the damages that write elsewhere stay in the guard bands.
    unsafe { at.copy_from_nonoverlapping(bits.to_le_bytes().as_ptr(), size) };
}

impl<O: Reference> Plan<O> for ReferencePlan<O> {
    unsafe fn enqueue(&self, args: &O::Args, _: Workspace, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut seen = Seen::default();
        O::visit(args, &mut seen);
        let specs = O::describe(&self.problem);
        let fault = RawFault { operation: 0, clause: 0, row: 3 };
        match self.damage {
            Damage::Idle => return Ok(()),
            Damage::Fault => stream.faults().unwrap().raise(fault),
            Damage::FaultError => {
                let fault = opweave_device::Fault { operation: O::NAME, clause: "an index", row: 3 };
                return Err(fault.into());
            }
            _ => {}
        }
        let problem = match self.damage {
            Damage::Sibling(fact, value) => {
                let facts = O::all_facts(&self.problem);
                let pair = |(name, old): (&str, opweave_contract::FactValue)| {
                    if name == fact { format!("{name}={value}") } else { format!("{name}={old}") }
                };
                O::problem_from(&facts.iter().map(pair).collect::<Vec<_>>()).unwrap()
            }
            _ => self.problem,
        };
        // A sibling that has other arguments is no sibling of this call.
        let present = |problem| O::describe(problem).tensors().map(|spec| spec.present).collect::<Vec<_>>();
        if present(&problem) != present(&self.problem) {
            return Err(LaunchError::Refused("the sibling takes other arguments".to_owned()));
        }
        let signature = O::signature();
        let tensors = specs.tensors().zip(&seen.tensors).map(|(spec, view)| {
            let view = view.as_ref()?;
            if self.damage == Damage::Ignores(spec.name) && spec.role != Role::Out {
                return signature
                    .tensors
                    .iter()
                    // Where attention has its keys from decides which of its tensors there must be: none of them can be left out.
                    .find(|t| t.name == spec.name && t.optional && !O::NAME.contains("attention"))
                    .map_or(Some(Values::zeros(view.dtype(), view.shape())), |_| None);
            }
            let size = view.dtype().bits() / 8;
            let data = addresses(view).into_iter().map(|at| codec::decode(view.dtype(), read(at, size))).collect();
            Some(Values::new(view.dtype(), view.shape(), data))
        });
        let tensors: Vec<Option<Values>> = tensors.collect();
        let scalars = signature.scalars.iter().zip(&seen.scalars);
        let scalars = scalars.map(|(s, &v)| if self.damage == Damage::Ignores(s.name) { s.default } else { v });
        let mut arguments = Arguments::new::<O>(tensors, scalars.collect());
        O::reference(&problem, &mut arguments).map_err(|e| LaunchError::Refused(e.to_string()))?;
        let raises = self.damage != Damage::NoFault && (self.damage != Damage::FaultOnce || call == 0);
        if let Some(fault) = arguments.faults().first().filter(|_| raises) {
            let row = fault.row + u64::from(self.damage == Damage::FaultRow);
            stream.faults().unwrap().raise(RawFault { operation: operation_code(O::NAME), clause: fault.clause, row });
        }
        let mut results: Vec<Vec<u64>> = Vec::new();
        for (spec, view) in specs.tensors().zip(&seen.tensors) {
            let (true, Some(view)) = (spec.role.writes(), view) else {
                results.push(Vec::new());
                continue;
            };
            // One that it ignores is not there.
            let Ok(values) = arguments.take(spec.name) else {
                results.push(Vec::new());
                continue;
            };
            results.push(values.data.iter().map(|&v| codec::encode(view.dtype(), v)).collect());
        }
        let key = seen.tensors.iter().flatten().last().map_or(0, |view| view.data() as usize);
        if self.damage == Damage::Baked {
            let mut baked = self.baked.lock().unwrap();
            match baked.iter().find(|(at, _)| *at == key) {
                Some((_, old)) => results.clone_from(old),
                None => baked.push((key, results.clone())),
            }
        }
        let dims = O::dims(&specs, args);
        for (index, (spec, view)) in specs.tensors().zip(&seen.tensors).enumerate() {
            let Some(view) = view else { continue };
            let size = view.dtype().bits() / 8;
            let places = addresses(view);
            if spec.role.writes() {
                self.store(&mut results[index], view, &places, call, &dims);
            } else if !places.is_empty()
                && (self.damage == Damage::Input && index == 0
                    || self.damage == Damage::Weight && spec.name == "weight")
            {
                write(places[0], read(places[0], size) ^ 1, size);
            }
        }
        Ok(())
    }
}

impl<O: Operator> ReferencePlan<O> {
    fn store(&self, bits: &mut [u64], view: &RawTensor, places: &[*mut u8], call: u64, dims: &DynDims) {
        let size = view.dtype().bits() / 8;
        let width = view.dim(view.rank().saturating_sub(1)).max(1);
        let tokens = dims.get(0);
        let mut written = bits.len();
        match self.damage {
            Damage::LastRow => written = bits.len().saturating_sub(width),
            Damage::Drift if call % 2 == 1 => bits.iter_mut().take(1).for_each(|b| *b ^= 1),
            Damage::Alone if tokens == 1 => bits.iter_mut().take(1).for_each(|b| *b ^= 1),
            // The first row of a batch.
            Damage::Place if tokens > 1 => bits.iter_mut().take(1).for_each(|b| *b ^= 1),
            Damage::Reversed => bits.reverse(),
            Damage::Truncates => bits.iter_mut().for_each(|b| *b &= !1),
            _ => {}
        }
        for (bits, &at) in bits.iter().zip(places).take(written) {
            write(at, *bits, size);
        }
        let behind = |at: &*mut u8| write(at.wrapping_add(size), 0x3c3c, size);
        match self.damage {
            Damage::PastEnd => places.iter().last().iter().for_each(|at| behind(at)),
            Damage::PastRow if view.stride(0) > width as isize => {
                places.iter().skip(width - 1).step_by(width).for_each(behind);
            }
            _ => {}
        }
    }
}

/// All operations that opweave declares, without their own rows.
pub(crate) fn operations() -> Vec<OperationDecl> {
    let bare = |operation: &OperationDecl| OperationDecl { implementations: &[], ..*operation };
    ops::operations().map(bare).collect()
}

/// A registry with what `register` puts into it.
pub(crate) fn registry(register: impl FnOnce(&mut Registry)) -> Arc<FrozenRegistry> {
    let mut registry = Registry::new();
    registry.declare(&operations()).unwrap();
    register(&mut registry);
    registry.freeze()
}

/// Registers one kernel of every operator.
pub(crate) fn register_all(registry: &mut Registry, name: &str, damage: Damage) {
    macro_rules! register {
        ([] $family:ident: $($module:ident: $operator:ident),* $(,)?) => {
            $(
                let kernel = ByReference::<ops::$family::$operator>::new(name, damage);
                registry.register::<ops::$family::$operator, _>(Arc::new(kernel)).unwrap();
            )*
        };
    }
    opweave_contract::operators!(register);
}

/// Runs on the CPU, on one thread.
pub(crate) fn try_run_on(registry: &FrozenRegistry, suites: &SuiteSet, config: &Config) -> Result<Report, RunError> {
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(Arc::new(Serial)));
    let interrupt = Interrupt::default();
    let ground = Ground { registry, suites, device: Ok(&device), threads: Some(1), interrupt: &interrupt };
    run(config, &ground, &mut Silent)
}

/// Runs opweave's own suites.
pub(crate) fn run_on(registry: &FrozenRegistry, config: &Config) -> Report {
    try_run_on(registry, &suites::builtin().unwrap(), config).unwrap()
}

/// A suite of one case, as another crate might bring it.
pub(crate) struct TinySuite;

impl Suite for TinySuite {
    type Op = ops::normalization::L2Norm;
    fn cases(&self, _: &SuiteArguments) -> Vec<Case<Self::Op>> {
        tensor_suite(&[("t2", &[2])], &[Axis::sizes("hidden_size", "h", &[8]), Axis::new("dtype", &["f32"])]).unwrap()
    }
    fn base(&self) -> Vec<String> {
        vec!["hidden_size=8".to_owned(), "dtype=f32".to_owned()]
    }
    fn accumulation_length(&self, case: &Case<Self::Op>) -> usize {
        case.problem.hidden_size
    }
}

/// A suite with an argument that the command line has already.
pub(crate) struct Colliding;

impl Suite for Colliding {
    type Op = ops::normalization::L2Norm;
    fn arguments(&self) -> &'static [SuiteArgument] {
        &[SuiteArgument { name: "seed", kind: ArgumentKind::Integer(0, 1), help: "" }]
    }
    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Self::Op>> {
        TinySuite.cases(arguments)
    }
    fn base(&self) -> Vec<String> {
        TinySuite.base()
    }
    fn accumulation_length(&self, case: &Case<Self::Op>) -> usize {
        case.problem.hidden_size
    }
}

/// A suite that gives one label twice.
pub(crate) struct TwoLabels;

impl Suite for TwoLabels {
    type Op = ops::normalization::L2Norm;
    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Self::Op>> {
        [TinySuite.cases(arguments), TinySuite.cases(arguments)].concat()
    }
    fn base(&self) -> Vec<String> {
        TinySuite.base()
    }
    fn accumulation_length(&self, case: &Case<Self::Op>) -> usize {
        case.problem.hidden_size
    }
}
