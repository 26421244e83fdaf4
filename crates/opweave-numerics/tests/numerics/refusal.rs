// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A call that breaks a clause is refused at the enqueue: a typed error, nothing launched, no byte of any argument changed.
//! Which clauses there are and that each is found is the contract crate's test; this one holds what a refusal leaves alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opweave_contract::ops::normalization::*;
use opweave_contract::{ArgSource, Clause, DynDims, Operator, ScalarParam, TensorSpec};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, DeviceKind, LaunchError, Stream, StreamRef};
use opweave_numerics::host::{HostTensor, Layout};
use opweave_registry::{Bucket, Buckets, EnqueueError, ExecutionMode, KernelSpec, Plan, Prepared, Record, Workspace};
use opweave_tensor::{DType, DeviceId, MAX_RANK, RawTensor};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A plan that counts its launches and fills nothing.
struct Spy(Arc<AtomicU64>);

impl<O: Operator> Plan<O> for Spy {
    unsafe fn enqueue(&self, _: &O::Args, _: Workspace, _: StreamRef<'_>) -> Result<(), LaunchError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// One way to break a call. `usize` picks the tensor and the dimension.
#[derive(Clone, Copy, Debug)]
enum Break {
    DType(usize),
    Rank(usize),
    Size(usize, usize, bool),
    Stride(usize),
    Device(usize),
    Null(usize),
    Alignment(usize),
    Overlap,
    Scalar(f64),
    Stream,
}

fn breaks() -> impl Strategy<Value = Break> {
    let pick = 0..16_usize;
    prop_oneof![
        pick.clone().prop_map(Break::DType),
        pick.clone().prop_map(Break::Rank),
        (pick.clone(), pick.clone(), any::<bool>()).prop_map(|(t, d, more)| Break::Size(t, d, more)),
        pick.clone().prop_map(Break::Stride),
        pick.clone().prop_map(Break::Device),
        pick.clone().prop_map(Break::Null),
        pick.prop_map(Break::Alignment),
        Just(Break::Overlap),
        prop_oneof![Just(f64::NAN), Just(-1.0), Just(f64::INFINITY)].prop_map(Break::Scalar),
        Just(Break::Stream),
    ]
}

struct Source<'a> {
    tensors: &'a mut [Option<HostTensor>],
    broken: Break,
}

fn rebuilt(view: RawTensor, dtype: DType, device: DeviceId, shape: &[usize], strides: &[isize]) -> RawTensor {
    RawTensor::strided(view.data(), dtype, device, shape, strides).unwrap()
}

impl ArgSource for Source<'_> {
    type Error = String;

    fn tensor(&mut self, index: usize, spec: &TensorSpec) -> Result<RawTensor, String> {
        let count = self.tensors.len();
        let view = self.tensors[index].as_mut().ok_or("absent")?.view().map_err(|e| e.to_string())?;
        let is = |picked: usize| picked % count == index;
        let (shape, strides) = (view.shape(), view.strides());
        let (dtype, device) = (view.dtype(), view.device());
        Ok(match self.broken {
            Break::DType(t) if is(t) => {
                let other = if dtype == DType::F32 { DType::I32 } else { DType::I16 };
                rebuilt(view, other, device, shape, strides)
            }
            Break::Rank(t) if is(t) && view.rank() < MAX_RANK => {
                rebuilt(view, dtype, device, &[&[1], shape].concat(), &[&[strides[0]], strides].concat())
            }
            Break::Size(t, d, more) if is(t) => {
                let mut other = shape.to_vec();
                // The first appearance of a dynamic dimension gives it its value: the last axis is always fixed.
                let axis = if index == 0 { shape.len() - 1 } else { d % shape.len() };
                other[axis] = if more { other[axis] + 1 } else { other[axis] - 1 };
                rebuilt(view, dtype, device, &other, Layout::contiguous(dtype, &other).strides.as_slice())
            }
            Break::Stride(t) if is(t) => {
                let mut other = strides.to_vec();
                other[strides.len() - 1] = 2;
                other.iter_mut().rev().skip(1).for_each(|s| *s *= 2);
                rebuilt(view, dtype, device, shape, &other)
            }
            Break::Device(t) if is(t) => rebuilt(view, dtype, DeviceId::new(DeviceKind::Cuda, 1), shape, strides),
            Break::Null(t) if is(t) => view.with_data(std::ptr::null_mut()),
            Break::Alignment(t) if is(t) => view.with_data(view.data().wrapping_add(1)),
            Break::Overlap if spec.role.writes() => {
                // Half a row into the first input.
                let input = self.tensors[0].as_mut().ok_or("absent")?.view().map_err(|e| e.to_string())?;
                let half = input.dim(1) / 2 * input.dtype().bits() / 8;
                view.with_data(input.data().wrapping_add(half))
            }
            _ => view,
        })
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        if let Break::Scalar(value) = self.broken { value } else { param.default }
    }
}

fn try_breaks<O: Operator>() {
    let launches = Arc::new(AtomicU64::new(0));
    let device = CpuDevice::new(Arc::new(Serial));
    let spec = KernelSpec::new("cpu.test.spy", "test", DeviceKind::Cpu, O::CONTRACTS);
    let record = Record { bucket: Bucket::ALL, spec, considered: Vec::new(), because: String::new() };
    let problem = O::problem_from(&["hidden_size=24", "dtype=f32"]).unwrap();
    let plan: Arc<dyn Plan<O>> = Arc::new(Spy(Arc::clone(&launches)));
    let (id, key) = (device.id(), device.key().clone());
    let prepared =
        Prepared::<O>::new(problem, id, key, ExecutionMode::Eager, 1, Buckets::none(), vec![(plan, record)]).unwrap();
    let specs = prepared.specs();
    let dims = DynDims::new(&[4]);
    let stream = device.stream().unwrap();
    let elsewhere = opweave_device::HostStream::new(DeviceId::new(DeviceKind::Noop, 0), Arc::new(Serial));
    let call = |broken: Break| {
        let tensor = |spec: &TensorSpec| {
            let mut tensor = HostTensor::zeros(Layout::contiguous(spec.dtype, &spec.shape(&dims))).unwrap();
            tensor.poison();
            tensor
        };
        let mut tensors: Vec<Option<HostTensor>> = specs.tensors().map(|s| s.present.then(|| tensor(s))).collect();
        let before: Vec<Vec<u8>> = tensors.iter().flatten().map(|t| t.image().to_vec()).collect();
        let args = O::assemble(specs, &mut Source { tensors: &mut tensors, broken }).unwrap();
        let stream =
            if matches!(broken, Break::Stream) { StreamRef::host(&elsewhere) } else { Stream::borrow(&*stream) };
        // SAFETY: clauses 1 and 2 of `Prepared::enqueue`: the views are of `tensors`, which live here; a broken one is refused
        // before anything is launched, and the spy touches nothing.
        let result = unsafe { prepared.enqueue(&args, Workspace::NONE, stream) };
        let untouched = tensors.iter().flatten().zip(&before).all(|(t, old)| t.image() == old);
        (result, untouched)
    };
    let (whole, _) = call(Break::Scalar(0.5));
    assert!(whole.is_ok() && launches.swap(0, Ordering::Relaxed) == 1, "{}: the call that is not broken", O::NAME);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&breaks(), |broken| {
        let count = specs.tensors().len();
        if let Break::Size(t, _, false) = broken {
            prop_assume!(specs.tensor(t % count).is_some_and(|s| s.dims.len() > 1));
        }
        let (result, untouched) = call(broken);
        let error = match result {
            Err(EnqueueError::Contract(error)) => error,
            other => return Err(TestCaseError::fail(format!("{broken:?}: {other:?}"))),
        };
        let clause = match broken {
            Break::DType(_) => Clause::DType,
            Break::Rank(_) => Clause::Rank,
            Break::Size(..) => Clause::Shape,
            Break::Stride(_) => Clause::Stride,
            Break::Device(_) | Break::Stream => Clause::Device,
            Break::Null(_) => Clause::Null,
            Break::Alignment(_) => Clause::Alignment,
            Break::Overlap => Clause::Overlap,
            Break::Scalar(_) => Clause::Range,
        };
        prop_assert_eq!(error.clause, clause);
        prop_assert_eq!(error.operation, O::NAME);
        prop_assert!(!error.argument.is_empty() && !error.expected.is_empty() && !error.actual.is_empty());
        let text = error.to_string();
        prop_assert!(text.contains(error.argument) && text.contains(&error.expected) && text.contains(&error.actual));
        prop_assert!(untouched, "{:?} changed an argument", broken);
        prop_assert_eq!(launches.load(Ordering::Relaxed), 0);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{}: {error}", O::NAME));
}

#[test]
fn a_refused_call_launches_nothing_and_leaves_every_argument_untouched() {
    try_breaks::<RmsNorm>();
    try_breaks::<GemmaRmsNorm>();
    try_breaks::<FusedAddRmsNorm>();
    try_breaks::<FusedAddGemmaRmsNorm>();
    try_breaks::<LayerNorm>();
    try_breaks::<L2Norm>();
    try_breaks::<RmsNormGated>();
}
