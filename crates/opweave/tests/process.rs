// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The process-wide runtime and the public operator functions, as a program meets them: one process, one story.

#![cfg(feature = "cpu")]

use opweave::ops::{
    FusedAddRmsNorm, FusedAddRmsNormProblem, LayerNormProblem, RmsNorm, RmsNormProblem, layer_norm, rms_norm,
};
use opweave::{
    CallError, Config, DType, EnqueueError, Output, Request, StateError, TensorMut, TensorRef, host_stream, initialize,
    prepared,
};

#[test]
fn a_process_is_initialised_once_and_says_what_it_lacks() -> Result<(), Box<dyn std::error::Error>> {
    let stream = host_stream(2)?;
    let problem = RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(4, DType::F32) };
    let call = |problem: &RmsNormProblem, width: usize| {
        let (input, mut out) = (vec![3.0_f32; width], vec![0.0_f32; width]);
        let rows = Output::apart(TensorRef::new(&input, &[1, width])?, TensorMut::new(&mut out, &[1, width])?);
        Ok::<_, Box<dyn std::error::Error>>((rms_norm(problem, rows, None, 0.0, &stream), out))
    };

    let (early, _) = call(&problem, 4)?;
    assert_eq!(early, Err(CallError::State(StateError::NotInitialized { operation: "rms_norm" })));

    let config = Config::new()
        .request(Request::<RmsNorm>::new(problem))
        .request(Request::<FusedAddRmsNorm>::new(FusedAddRmsNormProblem::new(4, DType::F32)));
    let bindings = initialize(&config)?;
    assert!(std::sync::Arc::ptr_eq(&bindings, &initialize(&config)?), "the same configuration, the same bindings");

    let (good, out) = call(&problem, 4)?;
    good?;
    assert_eq!(out, [1.0; 4]);

    let (other, _) = call(&RmsNormProblem { hidden_size: 8, ..problem }, 8)?;
    let Err(CallError::State(StateError::NotPrepared { nearest, .. })) = other else {
        return Err(format!("a problem that was not prepared: {other:?}").into());
    };
    assert_eq!(nearest, ["hidden_size=4 dtype=f32 weight_dtype=none weight_multiply=f32"]);

    let mut rows = [1.0_f32; 4];
    let rows = Output::in_place(TensorMut::new(&mut rows, &[1, 4])?);
    let outside = layer_norm(&LayerNormProblem::new(4, DType::F32), rows, None, None, 1e-5, &stream);
    assert!(
        matches!(outside, Err(CallError::State(StateError::Outside { operation: "layer_norm", .. }))),
        "{outside:?}"
    );

    let conflict = initialize(&Config::new());
    assert!(matches!(conflict, Err(opweave::InitializeError::Conflict { .. })), "{conflict:?}");
    Ok(())
}

#[test]
fn a_call_on_slices_is_refused_while_its_stream_captures() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = opweave::runtime();
    let problem = RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(4, DType::F32) };
    let bindings = runtime.initialize(&Config::new().request(Request::<RmsNorm>::new(problem)))?;
    let norm = bindings.prepared::<RmsNorm>(opweave::DeviceId::CPU, &problem)?;
    let stream = host_stream(1)?;
    let mut rows = [2.0_f32; 4];
    stream.begin_capture()?;
    let refused = rms_norm(&norm, Output::in_place(TensorMut::new(&mut rows, &[1, 4])?), None, 0.0, &stream);
    assert_eq!(refused, Err(CallError::Capturing { operation: "rms_norm" }));
    stream.end_capture()?;
    rms_norm(&norm, Output::in_place(TensorMut::new(&mut rows, &[1, 4])?), None, 0.0, &stream)?;
    assert_eq!(rows, [1.0; 4]);
    Ok(())
}

#[test]
fn a_slice_of_the_wrong_type_is_a_contract_error_and_writes_nothing() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = opweave::runtime();
    let problem = RmsNormProblem { weight_dtype: None, ..RmsNormProblem::new(4, DType::F32) };
    let bindings = runtime.initialize(&Config::new().request(Request::<RmsNorm>::new(problem)))?;
    let norm = bindings.prepared::<RmsNorm>(opweave::DeviceId::CPU, &problem)?;
    let (input, mut out) = ([1.0_f64; 4], [7.0_f32; 4]);
    let rows = Output::apart(TensorRef::new(&input, &[1, 4])?, TensorMut::new(&mut out, &[1, 4])?);
    let refused = rms_norm(&norm, rows, None, 0.0, &host_stream(1)?);
    let Err(CallError::Enqueue(EnqueueError::Contract(error))) = refused else {
        return Err(format!("{refused:?}").into());
    };
    assert_eq!((error.argument, error.clause), ("input", opweave::Clause::DType));
    assert_eq!(out, [7.0; 4]);
    assert!(prepared::<RmsNorm>(opweave::DeviceId::CPU, &RmsNormProblem::new(99, DType::F32)).is_err());
    Ok(())
}
