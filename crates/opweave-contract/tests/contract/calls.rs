// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Problems and calls made from a signature, for any operator.

use std::convert::Infallible;

use opweave_contract::{
    ArgSource, ArgSpecs, ArgVisitor, Bounds, DynDims, FactParam, FactValue, Legal, Operator, Placement, ScalarParam,
    TensorSpec,
};
use opweave_tensor::{DType, DeviceId, DeviceKind, RawTensor};

/// The device of the calls here: not the CPU, so that host arguments are told apart.
pub(crate) const DEVICE: DeviceId = DeviceId::new(DeviceKind::Noop, 1);
/// Bytes between the starts of two arguments: more than any of them has.
const APART: usize = 1 << 24;

/// Values that a fact is tried with, the first of them in every problem.
fn values(fact: &FactParam) -> Vec<String> {
    let closed = (fact.values)();
    if !closed.is_empty() {
        return closed.iter().map(FactValue::to_string).collect();
    }
    match fact.legal {
        Legal::Range(min, max) => vec![8.clamp(min, max).to_string(), min.to_string()],
        Legal::Ints(set) => set.iter().map(u64::to_string).collect(),
        Legal::DTypes(set) => set.iter().map(DType::to_string).chain(["none".to_owned()]).collect(),
        _ => vec!["8".to_owned()],
    }
}

/// Problems that differ from the first in one fact each; every value of every fact is in one of them, where legal.
pub(crate) fn problems<O: Operator>() -> Vec<O::Problem> {
    let facts = O::signature().facts;
    let required = |f: &&FactParam| f.default.is_none();
    let mut base: Vec<(&str, String)> = facts.iter().filter(required).map(|f| (f.name, values(f)[0].clone())).collect();
    let text = |pairs: &[(&str, String)]| pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
    // A size that must be a multiple of a larger one.
    if O::problem_from(&text(&base)).is_err() {
        base.iter_mut().filter(|(_, value)| value == "8").for_each(|(_, value)| *value = "128".to_owned());
    }
    let mut problems = vec![O::problem_from(&text(&base)).unwrap()];
    for fact in facts {
        for value in values(fact) {
            let mut pairs = base.clone();
            pairs.retain(|(name, _)| *name != fact.name);
            pairs.push((fact.name, value));
            if let Ok(problem) = O::problem_from(&text(&pairs))
                && !problems.contains(&problem)
            {
                problems.push(problem);
            }
        }
    }
    problems
}

/// The same problem with more promised or bounded, in the words of the command line.
pub(crate) fn with_facts<O: Operator>(problem: &O::Problem, more: &[String]) -> O::Problem {
    let mut pairs: Vec<String> = O::all_facts(problem).iter().map(|(k, v)| format!("{k}={v}")).collect();
    pairs.extend_from_slice(more);
    O::problem_from(&pairs).unwrap()
}

/// Supplies well-formed views far apart from each other, one of them replaced.
pub(crate) struct Source<'a> {
    pub(crate) dims: DynDims,
    /// Elements that are added to each outer stride where the contract allows it.
    pub(crate) padding: isize,
    pub(crate) replace: Option<(usize, &'a dyn Fn(RawTensor) -> RawTensor)>,
    pub(crate) scalar: Option<(&'static str, f64)>,
}

impl Source<'_> {
    pub(crate) fn new(dims: DynDims) -> Self {
        Source { dims, padding: 0, replace: None, scalar: None }
    }
}

/// Where the argument at `index` lies.
pub(crate) fn address(index: usize) -> *mut u8 {
    std::ptr::without_provenance_mut((index + 1) * APART)
}

impl ArgSource for Source<'_> {
    type Error = Infallible;

    fn tensor(&mut self, index: usize, spec: &TensorSpec) -> Result<RawTensor, Infallible> {
        let shape = spec.shape(&self.dims);
        let mut strides = vec![1_isize; shape.len()];
        for axis in (0..shape.len()).rev() {
            let inner = shape.get(axis + 1).map_or(1, |&n| strides[axis + 1] * n.max(1) as isize);
            strides[axis] = inner + if spec.dims[axis].strided { self.padding } else { 0 };
        }
        let device = if spec.placement == Placement::Host { DeviceId::CPU } else { DEVICE };
        let view = RawTensor::strided(address(index), spec.dtype, device, &shape, &strides).unwrap();
        Ok(match self.replace {
            Some((at, change)) if at == index => change(view),
            _ => view,
        })
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        self.scalar.filter(|(name, _)| *name == param.name).map_or(param.default, |(_, value)| value)
    }
}

/// Specs on [`DEVICE`].
pub(crate) fn specs<O: Operator>(problem: &O::Problem) -> ArgSpecs {
    O::describe(problem).on(DEVICE)
}

pub(crate) fn assemble<O: Operator>(specs: &ArgSpecs, mut source: Source<'_>) -> O::Args {
    let Ok(args) = O::assemble(specs, &mut source);
    args
}

/// Every dimension at 3, or at its least if that is more.
pub(crate) fn dims<O: Operator>() -> DynDims {
    DynDims::new(&O::signature().dims.iter().map(|d| d.min.max(3)).collect::<Vec<_>>())
}

/// Whether some tensor of the problem has the dimension; one that has none in a call is 0 there.
pub(crate) fn shows(specs: &ArgSpecs, dim: usize) -> bool {
    specs.tensors().filter(|s| s.present).any(|s| s.dims.iter().any(|d| d.size.dynamic.map(usize::from) == Some(dim)))
}

/// [`dims`], as a call of these arguments shows them.
pub(crate) fn shown<O: Operator>(specs: &ArgSpecs) -> DynDims {
    let all = dims::<O>();
    let sizes = all.as_slice().iter().enumerate();
    DynDims::new(&sizes.map(|(d, &size)| if shows(specs, d) { size } else { 0 }).collect::<Vec<_>>())
}

/// The same bound for every dimension.
pub(crate) fn bounds<O: Operator>(bound: usize) -> Bounds {
    (0..O::signature().dims.len()).fold(Bounds::default(), |bounds, d| bounds.with(d, bound))
}

/// What a visitor sees, in words.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Seen(pub(crate) Vec<String>);

impl ArgVisitor for Seen {
    fn tensor(&mut self, index: usize, tensor: Option<&RawTensor>) {
        self.0.push(format!("{index}: {tensor:?}"));
    }
    fn scalar(&mut self, index: usize, value: f64) {
        self.0.push(format!("{index}: {value}"));
    }
}
