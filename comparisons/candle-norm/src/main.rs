// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! In-cache norms on one thread: opweave against candle.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release` in this folder. The two take turns in rounds that start with the one and the
//! other alternately; the ratio is that of the medians of the rounds, above 1 when opweave is faster. Before anything is
//! timed the results are compared.
//!
//! opweave's side is a prepared call on slices, checked, writing into a buffer that is there; candle's is
//! `candle_nn::ops`, which allocates its result. That is how each is used.

use std::error::Error;
use std::time::Instant;

use candle_core::{CpuStorage, Device, Storage, Tensor};
use half::bf16;
use opweave::ops::{LayerNorm, LayerNormProblem, RmsNorm, RmsNormProblem, layer_norm, rms_norm};
use opweave::opweave_tensor::Element;
use opweave::{Config, DeviceId, Output, Request, TensorMut, TensorRef, host_stream, runtime};

const ROWS: usize = 16;
const WIDTH: usize = 4096;
const SHAPE: &[usize] = &[ROWS, WIDTH];
const EPS: f32 = 1e-5;
const ROUNDS: usize = 41;
const CALLS: usize = 200;

trait Number: candle_core::WithDType + Default + Element {
    fn number(value: f32) -> Self;
    fn float(self) -> f32;
    fn slice(storage: &CpuStorage) -> Option<&[Self]>;
}

impl Number for f32 {
    fn number(value: f32) -> Self {
        value
    }
    fn float(self) -> f32 {
        self
    }
    fn slice(storage: &CpuStorage) -> Option<&[Self]> {
        if let CpuStorage::F32(values) = storage { Some(values) } else { None }
    }
}

impl Number for bf16 {
    fn number(value: f32) -> Self {
        bf16::from_f32(value)
    }
    fn float(self) -> f32 {
        self.to_f32()
    }
    fn slice(storage: &CpuStorage) -> Option<&[Self]> {
        if let CpuStorage::BF16(values) = storage { Some(values) } else { None }
    }
}

/// Numbers without a pattern between -2 and 2.
fn noise<T: Number>(seed: u32, count: usize) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        T::number((state >> 8) as f32 / (1 << 22) as f32 - 2.0)
    };
    (0..count).map(|_| next()).collect()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Times both in turns and prints the medians of the rounds and their ratio.
fn race(name: &str, mut ours: impl FnMut() -> bool, mut theirs: impl FnMut() -> bool) {
    let time = |f: &mut dyn FnMut() -> bool| {
        let start = Instant::now();
        assert!((0..CALLS).all(|_| f()), "{name}: a call that agreed before fails now");
        start.elapsed().as_secs_f64() * 1e6 / CALLS as f64
    };
    let (mut us, mut them) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 2 {
        let pair = if round % 2 == 0 {
            let a = time(&mut ours);
            (a, time(&mut theirs))
        } else {
            let b = time(&mut theirs);
            (time(&mut ours), b)
        };
        // The first two rounds warm up.
        if round >= 2 {
            us.push(pair.0);
            them.push(pair.1);
        }
    }
    let (ours, theirs) = (median(&mut us), median(&mut them));
    println!("| {name} | {ours:.2} | {theirs:.2} | {:.1} |", theirs / ours);
}

fn compare<T: Number>() -> Result<(), Box<dyn Error>> {
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
    agree(&out, &theirs_rms()?)?;
    ours_layer(&mut out)?;
    agree(&out, &theirs_layer()?)?;

    let name = |op: &str| format!("{op} {ROWS} x {WIDTH} {dtype}");
    race(&name("rms_norm"), || ours_rms(&mut out).is_ok(), || theirs_rms().is_ok());
    race(&name("layer_norm"), || ours_layer(&mut out).is_ok(), || theirs_layer().is_ok());
    Ok(())
}

/// Both results within a few units of bf16, or an error.
fn agree<T: Number>(ours: &[T], theirs: &Tensor) -> Result<(), Box<dyn Error>> {
    let (storage, _) = theirs.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { return Err("candle's result is not on the CPU".into()) };
    let theirs = T::slice(storage).ok_or("candle's result has another dtype")?;
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let (a, b) = (a.float(), b.float());
        if (a - b).abs() > 0.02 * b.abs().max(0.1) {
            return Err(format!("element {i}: opweave {a}, candle {b}").into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var("RAYON_NUM_THREADS").as_deref() != Ok("1") {
        return Err("set RAYON_NUM_THREADS=1: the race is on one thread".into());
    }
    println!("candle 0.11.1, one thread, median of {ROUNDS} rounds\n");
    println!("| case | opweave us | candle us | ratio |\n| --- | ---: | ---: | ---: |");
    compare::<f32>()?;
    compare::<bf16>()
}
