// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Norms of 16 x 4096.

use std::error::Error;

use candle_core::{Device, Tensor};
use opweave::ops::{LayerNorm, LayerNormProblem, RmsNorm, RmsNormProblem, layer_norm, rms_norm};
use opweave::opweave_tensor::Element;
use opweave::{Config, DeviceId, Output, Request, TensorMut, TensorRef, host_stream, runtime};

use crate::number::{Number, noise};
use crate::race::{agree, race};

const ROWS: usize = 16;
const WIDTH: usize = 4096;
const SHAPE: &[usize] = &[ROWS, WIDTH];
const EPS: f32 = 1e-5;

pub(crate) fn compare<T: Number>() -> Result<(), Box<dyn Error>> {
    let dtype = <T as Element>::DTYPE;
    let (rms, layer) = (RmsNormProblem::new(WIDTH, dtype), LayerNormProblem::new(WIDTH, dtype));
    let config = Config::new().request(Request::<RmsNorm>::new(rms)).request(Request::<LayerNorm>::new(layer));
    let bindings = runtime().initialize(&config)?;
    let rms = bindings.prepared::<RmsNorm>(DeviceId::CPU, &rms)?;
    let layer = bindings.prepared::<LayerNorm>(DeviceId::CPU, &layer)?;
    let stream = host_stream(1)?;

    let (x, w, b) = (noise::<T>(1, ROWS * WIDTH), noise::<T>(2, WIDTH), noise::<T>(3, WIDTH));
    let mut out = vec![T::default(); ROWS * WIDTH];
    let ours_rms = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        let rows = Output::apart(TensorRef::new(&x, SHAPE)?, TensorMut::new(out, SHAPE)?);
        Ok(rms_norm(&rms, rows, Some(TensorRef::new(&w, &[WIDTH])?.into()), EPS, &stream)?)
    };
    let ours_layer = |out: &mut [T]| -> Result<(), Box<dyn Error>> {
        let rows = Output::apart(TensorRef::new(&x, SHAPE)?, TensorMut::new(out, SHAPE)?);
        let (w, b) = (TensorRef::new(&w, &[WIDTH])?.into(), TensorRef::new(&b, &[WIDTH])?.into());
        Ok(layer_norm(&layer, rows, Some(w), Some(b), EPS, &stream)?)
    };

    let device = Device::Cpu;
    let input = Tensor::from_vec(x.clone(), (ROWS, WIDTH), &device)?;
    let weight = Tensor::from_vec(w.clone(), WIDTH, &device)?;
    let bias = Tensor::from_vec(b.clone(), WIDTH, &device)?;
    let theirs_rms = || candle_nn::ops::rms_norm(&input, &weight, EPS);
    let theirs_layer = || candle_nn::ops::layer_norm(&input, &weight, &bias, EPS);

    ours_rms(&mut out)?;
    agree(&out, &theirs_rms()?, 0.1)?;
    ours_layer(&mut out)?;
    agree(&out, &theirs_layer()?, 0.1)?;

    let name = |op: &str| format!("{op} {ROWS} x {WIDTH} {dtype}");
    race(&name("rms_norm"), || ours_rms(&mut out).is_ok(), || theirs_rms().is_ok());
    race(&name("layer_norm"), || ours_layer(&mut out).is_ok(), || theirs_layer().is_ok());
    Ok(())
}
