// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A weight that is packed once and passed packed, on slices; and what is refused.

#![cfg(feature = "cpu")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use opweave::ops::{Linear, LinearActivation, LinearProblem, WeightForm, linear};
use opweave::{
    AnyRef, CallError, Clause, Config, DType, DeviceId, EnqueueError, HostStream, LayoutId, Prepared, Request,
    TensorMut, TensorRef, host_stream, runtime,
};

const IN: usize = 3;
const OUT: usize = 2;
const WEIGHT: [f32; 6] = [1.0, 2.0, 3.0, -1.0, 0.5, -2.0];

fn prepared(problem: LinearProblem) -> (std::sync::Arc<Prepared<Linear>>, HostStream) {
    let runtime = runtime();
    let bindings = runtime.initialize(&Config::new().request(Request::<Linear>::new(problem))).unwrap();
    (bindings.prepared::<Linear>(DeviceId::CPU, &problem).unwrap(), host_stream(1).unwrap())
}

/// As many bytes as asked for, aligned to 64.
fn aligned(memory: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    *memory = vec![0; bytes + 64];
    let from = (memory.as_ptr() as usize).next_multiple_of(64) - memory.as_ptr() as usize;
    &mut memory[from..from + bytes]
}

fn contract(error: CallError) -> (&'static str, Clause) {
    match error {
        CallError::Enqueue(EnqueueError::Contract(error)) => (error.argument, error.clause),
        other => panic!("{other}"),
    }
}

#[test]
fn a_packed_weight_computes_what_the_plain_one_does() {
    let problem = LinearProblem { activation: LinearActivation::Relu, ..LinearProblem::new(IN, OUT, DType::F32) };
    let (op, stream) = prepared(problem);
    let layout = op.packed().unwrap().clone();
    let mut memory = Vec::new();
    let target = aligned(&mut memory, layout.bytes);
    let weight = TensorRef::new(&WEIGHT, &[OUT, IN]).unwrap();
    assert_eq!(opweave::pack(&op, weight, target, &stream).unwrap(), layout);
    let input = [1.0_f32, 1.0, 1.0, 0.0, 4.0, 0.5];
    let mut out = [0.0_f32; 4];
    let rows = TensorRef::new(&input, &[2, IN]).unwrap();
    let results = TensorMut::new(&mut out, &[2, OUT]).unwrap();
    linear(&op, rows, AnyRef::packed(target, layout.id), None, results, &stream).unwrap();
    assert_eq!(out, [6.0, 0.0, 9.5, 1.0]);

    let plain = LinearProblem { weight_form: WeightForm::Plain, ..problem };
    let (op, stream) = prepared(plain);
    assert!(op.packed().is_none());
    let mut again = [0.0_f32; 4];
    linear(&op, rows, weight, None, TensorMut::new(&mut again, &[2, OUT]).unwrap(), &stream).unwrap();
    assert_eq!(again, out);
    let refused = opweave::pack(&op, weight, target, &stream).unwrap_err();
    assert!(matches!(refused, CallError::Plain { operation: "linear" }), "{refused}");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let (op, stream) = prepared(LinearProblem::new(IN, OUT, DType::F32));
    let layout = op.packed().unwrap().clone();
    let mut memory = Vec::new();
    let target = aligned(&mut memory, layout.bytes + 1);
    let weight = TensorRef::new(&WEIGHT, &[OUT, IN]).unwrap();
    let mut pack = |weight: AnyRef<'_>, from: usize, to: usize| {
        contract(opweave::pack(&op, weight, &mut target[from..to], &stream).unwrap_err())
    };
    assert_eq!(pack(weight.into(), 0, layout.bytes - 1), ("target", Clause::Layout));
    assert_eq!(pack(weight.into(), 1, layout.bytes + 1), ("target", Clause::Layout));
    let other = TensorRef::new(&WEIGHT, &[IN, OUT]).unwrap();
    assert_eq!(pack(other.into(), 0, layout.bytes), ("weight", Clause::Shape));
    let transposed = TensorRef::strided(&WEIGHT, &[OUT, IN], &[1, 2]).unwrap();
    assert_eq!(pack(transposed.into(), 0, layout.bytes), ("weight", Clause::Stride));
    let bytes = TensorRef::new(&[0_i8; 6], &[OUT, IN]).unwrap();
    assert_eq!(pack(bytes.into(), 0, layout.bytes), ("weight", Clause::DType));

    // A call with the plain weight, or with other bytes than its own layout's.
    let (input, mut out) = ([0.0_f32; 3], [0.0_f32; 2]);
    let mut call = |weight: AnyRef<'_>| {
        let rows = TensorRef::new(&input, &[1, IN]).unwrap();
        let results = TensorMut::new(&mut out, &[1, OUT]).unwrap();
        contract(linear(&op, rows, weight, None, results, &stream).unwrap_err())
    };
    assert_eq!(call(weight.into()), ("weight", Clause::Layout));
    assert_eq!(call(AnyRef::packed(&target[..layout.bytes], LayoutId(1))), ("weight", Clause::Layout));
    assert_eq!(call(AnyRef::packed(&target[..layout.bytes - 1], layout.id)), ("weight", Clause::Layout));
}
