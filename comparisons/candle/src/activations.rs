// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Gated activations of 16 x 14336, and softmax of 16 x 32000.

use std::error::Error;

use candle_core::{Device, Tensor};
use opweave::ops::{
    GeluAndMul, GeluAndMulProblem, GeluTanhAndMul, GeluTanhAndMulProblem, LogSoftmax, LogSoftmaxProblem, SiluAndMul,
    SiluAndMulProblem, Softmax, SoftmaxProblem, gelu_and_mul, gelu_tanh_and_mul, log_softmax, silu_and_mul, softmax,
};
use opweave::opweave_tensor::Element;
use opweave::{Config, DeviceId, Output, Request, TensorMut, TensorRef, host_stream, runtime};

use crate::number::{Number, noise};
use crate::race::{agree, race};

const ROWS: usize = 16;
const WIDTH: usize = 14336;
const PACKED: &[usize] = &[ROWS, 2 * WIDTH];
const SHAPE: &[usize] = &[ROWS, WIDTH];
const VOCABULARY: usize = 32000;
const LOGITS: &[usize] = &[ROWS, VOCABULARY];

/// Packed halves on both sides; candle's is `swiglu`, and for GELU the same with the other activation.
pub(crate) fn gated<T: Number>() -> Result<(), Box<dyn Error>> {
    let dtype = <T as Element>::DTYPE;
    let silu = SiluAndMulProblem::new(WIDTH, dtype);
    let gelu = GeluAndMulProblem::new(WIDTH, dtype);
    let tanh = GeluTanhAndMulProblem::new(WIDTH, dtype);
    let config = Config::new()
        .request(Request::<SiluAndMul>::new(silu))
        .request(Request::<GeluAndMul>::new(gelu))
        .request(Request::<GeluTanhAndMul>::new(tanh));
    let bindings = runtime().initialize(&config)?;
    let silu = bindings.prepared::<SiluAndMul>(DeviceId::CPU, &silu)?;
    let gelu = bindings.prepared::<GeluAndMul>(DeviceId::CPU, &gelu)?;
    let tanh = bindings.prepared::<GeluTanhAndMul>(DeviceId::CPU, &tanh)?;
    let stream = host_stream(1)?;

    let x = noise::<T>(1, ROWS * 2 * WIDTH);
    let mut out = vec![T::default(); ROWS * WIDTH];
    let input = Tensor::from_vec(x.clone(), (ROWS, 2 * WIDTH), &Device::Cpu)?;
    let halves = || -> candle_core::Result<(Tensor, Tensor)> {
        Ok((input.narrow(1, 0, WIDTH)?, input.narrow(1, WIDTH, WIDTH)?))
    };
    let ours_silu = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        Ok(silu_and_mul(&silu, TensorRef::new(&x, PACKED)?, None, TensorMut::new(out, SHAPE)?, &stream)?)
    };
    let ours_gelu = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        Ok(gelu_and_mul(&gelu, TensorRef::new(&x, PACKED)?, None, TensorMut::new(out, SHAPE)?, &stream)?)
    };
    let ours_tanh = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        Ok(gelu_tanh_and_mul(&tanh, TensorRef::new(&x, PACKED)?, None, TensorMut::new(out, SHAPE)?, &stream)?)
    };
    let theirs_silu = || candle_nn::ops::swiglu(&input);
    let theirs_gelu = || halves().and_then(|(gate, up)| gate.gelu_erf()? * up);
    let theirs_tanh = || halves().and_then(|(gate, up)| gate.gelu()? * up);

    // In bf16 candle rounds after each step of the formula.
    ours_silu(&mut out)?;
    agree(&out, &theirs_silu()?, 0.5)?;
    ours_gelu(&mut out)?;
    agree(&out, &theirs_gelu()?, 0.5)?;
    ours_tanh(&mut out)?;
    agree(&out, &theirs_tanh()?, 0.5)?;

    let name = |op: &str| format!("{op} {ROWS} x {WIDTH} {dtype}");
    race(&name("silu_and_mul"), || ours_silu(&mut out).is_ok(), || theirs_silu().is_ok());
    race(&name("gelu_and_mul"), || ours_gelu(&mut out).is_ok(), || theirs_gelu().is_ok());
    race(&name("gelu_tanh_and_mul"), || ours_tanh(&mut out).is_ok(), || theirs_tanh().is_ok());
    Ok(())
}

/// candle's fused `softmax_last_dim`, and its composed `log_softmax`.
pub(crate) fn probabilities<T: Number>() -> Result<(), Box<dyn Error>> {
    let dtype = <T as Element>::DTYPE;
    let (plain, log) = (SoftmaxProblem::new(VOCABULARY, dtype), LogSoftmaxProblem::new(VOCABULARY, dtype));
    let config = Config::new().request(Request::<Softmax>::new(plain)).request(Request::<LogSoftmax>::new(log));
    let bindings = runtime().initialize(&config)?;
    let plain = bindings.prepared::<Softmax>(DeviceId::CPU, &plain)?;
    let log = bindings.prepared::<LogSoftmax>(DeviceId::CPU, &log)?;
    let stream = host_stream(1)?;

    let x = noise::<T>(1, ROWS * VOCABULARY);
    let mut out = vec![T::default(); ROWS * VOCABULARY];
    let input = Tensor::from_vec(x.clone(), (ROWS, VOCABULARY), &Device::Cpu)?;
    let ours = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        let rows = Output::apart(TensorRef::new(&x, LOGITS)?, TensorMut::new(out, LOGITS)?);
        Ok(softmax(&plain, rows, 1.0, &stream)?)
    };
    let ours_log = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        let rows = Output::apart(TensorRef::new(&x, LOGITS)?, TensorMut::new(out, LOGITS)?);
        Ok(log_softmax(&log, rows, 1.0, &stream)?)
    };
    let theirs = || candle_nn::ops::softmax_last_dim(&input);
    let theirs_log = || candle_nn::ops::log_softmax(&input, 1);

    let name = |op: &str| format!("{op} {ROWS} x {VOCABULARY} {dtype}");
    // candle sums 32000 numbers in bf16, where the sum stands still at 256: there is nothing to agree with.
    if dtype == opweave::opweave_tensor::DType::F32 {
        ours(&mut out)?;
        agree(&out, &theirs()?, 1e-7)?;
        ours_log(&mut out)?;
        agree(&out, &theirs_log()?, 0.1)?;
    }
    race(&name("softmax"), || ours(&mut out).is_ok(), || theirs().is_ok());
    race(&name("log_softmax"), || ours_log(&mut out).is_ok(), || theirs_log().is_ok());
    Ok(())
}
