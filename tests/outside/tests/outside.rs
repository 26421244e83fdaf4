// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What opweave gives an operator and a solution that it does not know: selection, refusals, overrides, the catalog, the
//! call, the graph.

use std::num::NonZero;
use std::sync::Arc;

use opweave_contract::ops::FAMILIES;
use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_contract::tensor::{DType, DeviceId, RawTensor, TensorMut, TensorRef};
use opweave_registry::device::cpu::{self, CpuDevice, Pool};
use opweave_registry::device::{Device, Stream};
use opweave_registry::{Availability, Verdict, Workspace, collect_catalog};
use opweave_runtime::{Config, Environment, Request, Runtime, Solution};
use outside::{OPERATIONS, ReluSquared, ReluSquaredArgs, ReluSquaredProblem, SOLUTION};

/// opweave's CPU solution, as its facade writes it.
const CPU: Solution = Solution { name: "cpu.native", register: opweave_cpu::register, probe: cpu::backend };

/// A runtime of opweave's operators and the outside one, of opweave's CPU solution and the outside one, with no variable
/// set.
fn runtime() -> Runtime {
    let builder = FAMILIES.iter().fold(Runtime::builder(), |builder, family| builder.declare(family));
    builder.declare(OPERATIONS).solution(CPU).solution(SOLUTION).environment(Environment::default).build()
}

fn device() -> CpuDevice {
    CpuDevice::new(Arc::new(Pool::new(NonZero::new(2).unwrap()).unwrap()))
}

fn stream() -> Box<dyn Stream> {
    device().stream().unwrap()
}

fn relu_squared(width: usize, dtype: DType) -> Request<ReluSquared> {
    Request::new(ReluSquaredProblem::new(width, dtype))
}

#[test]
fn the_outside_operator_is_selected_and_runs() {
    let bindings = runtime().initialize(&Config::new().request(relu_squared(3, DType::F32).erase())).unwrap();
    let prepared = bindings.prepared::<ReluSquared>(DeviceId::CPU, &ReluSquaredProblem::new(3, DType::F32)).unwrap();
    assert_eq!(prepared.records()[0].spec.name, "cpu.outside.relu_squared");

    // Rows of a wider buffer: the token dimension may be strided.
    let input = [-1.0_f32, 2.0, f32::NAN, 9.0, 0.5, -0.0, 3.0, 9.0];
    let mut out = [7.0_f32; 6];
    let stream = stream();
    let args = ReluSquaredArgs {
        input: TensorRef::strided(&input, &[2, 3], &[4, 1]).unwrap().raw(),
        out: TensorMut::new(&mut out, &[2, 3]).unwrap().raw(),
        scale: 2.0,
    };
    // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the call and nobody else uses them.
    unsafe { prepared.enqueue(&args, Workspace::NONE, stream.borrow()) }.unwrap();
    assert_eq!(out[..2], [0.0, 8.0]);
    assert!(out[2].is_nan());
    assert_eq!(out[3..], [0.5, 0.0, 18.0]);
}

#[test]
fn a_captured_call_is_replayed_on_changed_inputs() {
    let problem = ReluSquaredProblem::new(2, DType::F32);
    let bindings = runtime().initialize(&Config::new().request(Request::<ReluSquared>::new(problem).erase())).unwrap();
    let prepared = bindings.prepared::<ReluSquared>(DeviceId::CPU, &problem).unwrap();
    let device = device();
    let (mut input, out) = (device.allocate(8, 4).unwrap(), device.allocate(8, 4).unwrap());
    let view = |data| RawTensor::contiguous(data, DType::F32, DeviceId::CPU, &[1, 2]).unwrap();
    let args = ReluSquaredArgs { input: view(input.data()), out: view(out.data()), scale: 1.0 };
    let read = || {
        let mut bytes = [0; 8];
        out.read(0, &mut bytes).unwrap();
        [0, 4].map(|at| f32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap()))
    };

    let stream = device.stream().unwrap();
    stream.begin_capture().unwrap();
    // SAFETY: both clauses of `Prepared::enqueue`: the buffers outlive the graph and nobody else uses them meanwhile.
    unsafe { prepared.enqueue(&args, Workspace::NONE, stream.borrow()) }.unwrap();
    let graph = stream.end_capture().unwrap();
    let captured = read();
    input.write(0, &[3.0_f32, -4.0].map(f32::to_ne_bytes).concat()).unwrap();
    assert_eq!(read().map(f32::to_bits), captured.map(f32::to_bits), "a capture runs nothing");
    graph.replay(stream.borrow()).unwrap();
    assert_eq!(read(), [9.0, 0.0]);
}

#[test]
fn what_the_row_cannot_do_is_a_refusal_with_its_reason() {
    let error = runtime().initialize(&Config::new().request(relu_squared(3, DType::BF16).erase())).unwrap_err();
    let text = error.to_string();
    for wanted in ["relu_squared", "cpu.outside.relu_squared", "bf16", "f32"] {
        assert!(text.contains(wanted), "{wanted} is not in: {text}");
    }
}

#[test]
fn a_broken_call_is_an_error_that_names_the_argument() {
    let problem = ReluSquaredProblem::new(2, DType::F32);
    let bindings = runtime().initialize(&Config::new().request(Request::<ReluSquared>::new(problem).erase())).unwrap();
    let prepared = bindings.prepared::<ReluSquared>(DeviceId::CPU, &problem).unwrap();
    let (input, mut out) = ([1.0_f32; 2], [0.0_f32; 4]);
    let args = ReluSquaredArgs {
        input: TensorRef::new(&input, &[1, 2]).unwrap().raw(),
        out: TensorMut::new(&mut out, &[2, 2]).unwrap().raw(),
        scale: 1.0,
    };
    let stream = stream();
    // SAFETY: both clauses of `Prepared::enqueue`.
    let error = unsafe { prepared.enqueue(&args, Workspace::NONE, stream.borrow()) }.unwrap_err();
    assert!(error.to_string().contains("relu_squared") && error.to_string().contains("tokens"), "{error}");
    assert_eq!(out, [0.0; 4]);
}

#[test]
fn an_override_chooses_the_outside_row_of_an_opweave_operator() {
    let mut problem = RmsNormProblem::new(4, DType::F32);
    problem.weight_dtype = None;
    let config =
        Config::new().request(Request::<RmsNorm>::new(problem).erase()).override_with("rms_norm", "cpu.outside");
    let bindings = runtime().initialize(&config).unwrap();
    let prepared = bindings.prepared::<RmsNorm>(DeviceId::CPU, &problem).unwrap();
    assert_eq!(prepared.records()[0].spec.name, "cpu.outside.rms_norm");

    let mut rows = [1.0_f32, 1.0, 1.0, 1.0, 1.0, -1.0, 3.0, 5.0];
    let view = TensorMut::new(&mut rows, &[2, 4]).unwrap().raw();
    let args = RmsNormArgs { input: view, weight: None, out: view, epsilon: 0.0 };
    let stream = stream();
    // SAFETY: both clauses of `Prepared::enqueue`; in place is one of the contract's aliases.
    unsafe { prepared.enqueue(&args, Workspace::NONE, stream.borrow()) }.unwrap();
    assert_eq!(rows, [1.0, 1.0, 1.0, 1.0, 1.0 / 3.0, -1.0 / 3.0, 1.0, 5.0 / 3.0]);
}

#[test]
fn without_an_override_opweaves_own_row_wins_and_the_outside_one_stays_visible() {
    let mut problem = RmsNormProblem::new(4, DType::F32);
    problem.weight_dtype = None;
    let bindings = runtime().initialize(&Config::new().request(Request::<RmsNorm>::new(problem).erase())).unwrap();
    let prepared = bindings.prepared::<RmsNorm>(DeviceId::CPU, &problem).unwrap();
    let record = &prepared.records()[0];
    assert!(record.spec.name.starts_with("cpu.native.rms_norm."), "{}", record.spec.name);
    let outside = record.considered.iter().find(|row| row.name == "cpu.outside.rms_norm").unwrap();
    assert_eq!(outside.verdict, Verdict::Eligible { rank: -100 });
}

#[test]
fn the_catalog_shows_the_outside_rows() {
    let registry = runtime().registry().unwrap();
    let catalog = collect_catalog(&registry).unwrap();
    for name in ["cpu.outside.relu_squared", "cpu.outside.rms_norm"] {
        let row = catalog.iter().find(|row| row.name == name).unwrap();
        assert_eq!((row.solution.as_str(), &row.availability), ("cpu.outside", &Availability::Available));
    }
}

#[test]
fn an_operator_that_is_declared_twice_is_an_error() {
    let twice = Runtime::builder().declare(OPERATIONS).declare(OPERATIONS).solution(SOLUTION).build();
    assert!(twice.registry().unwrap_err().to_string().contains("relu_squared"));
}

#[test]
fn a_prepared_outside_operator_is_shared_between_threads() {
    let problem = ReluSquaredProblem::new(1, DType::F32);
    let bindings = runtime().initialize(&Config::new().request(Request::<ReluSquared>::new(problem).erase())).unwrap();
    let prepared = bindings.prepared::<ReluSquared>(DeviceId::CPU, &problem).unwrap();
    std::thread::scope(|scope| {
        for value in 0..4_u16 {
            let prepared = &prepared;
            scope.spawn(move || {
                let (input, mut out) = ([f32::from(value)], [0.0_f32]);
                let args = ReluSquaredArgs {
                    input: TensorRef::new(&input, &[1, 1]).unwrap().raw(),
                    out: TensorMut::new(&mut out, &[1, 1]).unwrap().raw(),
                    scale: 1.0,
                };
                let stream = stream();
                // SAFETY: both clauses of `Prepared::enqueue`: the buffers are this thread's.
                unsafe { prepared.enqueue(&args, Workspace::NONE, stream.borrow()) }.unwrap();
                assert_eq!(out[0], f32::from(value * value));
            });
        }
    });
}
