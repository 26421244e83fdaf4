// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! In-cache norms on one thread: opweave against candle.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release` in this folder. The two take turns in rounds that start with the one and the
//! other alternately; the ratio is that of the medians of the rounds, above 1 when opweave is faster. Before anything is
//! timed the results are compared.
//!
//! opweave's side is the body that the row `cpu.native.<op>.avx2` launches, writing into a buffer that is there; candle's is
//! `candle_nn::ops`, which allocates its result. That is how each is used.

use std::error::Error;
use std::time::Instant;

use candle_core::{CpuStorage, Device, Storage, Tensor};
use half::bf16;
use opweave_cpu::Rows;
use opweave_cpu::normalization::{Columns, LayerCall, RmsCall, Statistic, layer_norm, rms_norm};
use opweave_cpu::simd::Isa;
use opweave_device::cpu::Serial;
use opweave_tensor::DType;

const ROWS: usize = 16;
const WIDTH: usize = 4096;
const EPS: f32 = 1e-5;
const ROUNDS: usize = 41;
const CALLS: usize = 200;

trait Number: candle_core::WithDType + Default {
    const KIND: DType;
    fn number(value: f32) -> Self;
    fn float(self) -> f32;
    fn slice(storage: &CpuStorage) -> Option<&[Self]>;
}

impl Number for f32 {
    const KIND: DType = DType::F32;
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
    const KIND: DType = DType::BF16;
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
fn race(name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| f());
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
    let isa = Isa::best();
    let (x, w, b) = (noise::<T>(1, ROWS * WIDTH), noise::<T>(2, WIDTH), noise::<T>(3, WIDTH));
    let mut out = vec![T::default(); ROWS * WIDTH];
    let device = Device::Cpu;
    let input = Tensor::from_vec(x.clone(), (ROWS, WIDTH), &device)?;
    let weight = Tensor::from_vec(w.clone(), WIDTH, &device)?;
    let bias = Tensor::from_vec(b.clone(), WIDTH, &device)?;

    let rows = |data: *const T| Rows { data: data.cast_mut().cast(), stride: WIDTH as isize };
    let columns = |data: &[T]| Some(Columns { data: data.as_ptr().cast(), dtype: T::KIND });
    let target = rows(out.as_mut_ptr());
    let rms = RmsCall {
        rows: ROWS,
        width: WIDTH,
        dtype: T::KIND,
        input: rows(x.as_ptr()),
        residual: None,
        out: target,
        weight: columns(&w),
        weight_plus_one: false,
        statistic: Statistic::RootMeanSquare { eps: f64::from(EPS) },
        round_normalised: false,
        round_sum: false,
    };
    let layer = LayerCall {
        rows: ROWS,
        width: WIDTH,
        dtype: T::KIND,
        input: rows(x.as_ptr()),
        out: target,
        weight: columns(&w),
        bias: columns(&b),
        eps: f64::from(EPS),
    };
    // SAFETY: `x`, `w` and `out` hold what the call describes and live to the end of this function.
    let ours_rms = || unsafe { rms_norm(isa, &Serial, &rms) };
    // SAFETY: as above, with `b`.
    let ours_layer = || unsafe { layer_norm(isa, &Serial, &layer) };

    let theirs_rms = || candle_nn::ops::rms_norm(&input, &weight, EPS);
    let theirs_layer = || candle_nn::ops::layer_norm(&input, &weight, &bias, EPS);

    ours_rms();
    // SAFETY: the call above has returned, so nobody writes `out` now.
    agree(unsafe { std::slice::from_raw_parts(out.as_ptr(), ROWS * WIDTH) }, &theirs_rms()?)?;
    ours_layer();
    // SAFETY: as above.
    agree(unsafe { std::slice::from_raw_parts(out.as_ptr(), ROWS * WIDTH) }, &theirs_layer()?)?;

    let name = |op: &str| format!("{op} {ROWS} x {WIDTH} {}", T::KIND);
    race(&name("rms_norm"), ours_rms, || drop(theirs_rms()));
    race(&name("layer_norm"), ours_layer, || drop(theirs_layer()));
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
    println!("opweave on {}, candle 0.11.1, one thread, median of {ROUNDS} rounds\n", Isa::best().name());
    println!("| case | opweave us | candle us | ratio |\n| --- | ---: | ---: | ---: |");
    compare::<f32>()?;
    compare::<bf16>()
}
