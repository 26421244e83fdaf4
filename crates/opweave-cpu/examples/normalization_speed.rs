// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times the normalization kernels against plain copies of the same bytes.
//!
//! `cargo run --release -p opweave-cpu --example normalization_speed [-- FILTER [OPERATOR]]`
//!
//! Each kernel takes turns with a copy; its share of the copy's rate is the median of the pairs, since a shared machine's memory is
//! half as fast in one second as in the next.

use std::num::NonZero;
use std::time::Instant;

use opweave_cpu::Rows;
use opweave_cpu::ceilings;
use opweave_cpu::normalization::{
    Activation, Columns, GatePlace, GatedCall, LayerCall, RmsCall, Statistic, layer_norm, rms_norm, rms_norm_gated,
};
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_device::Buffer;
use opweave_device::cpu::{HostBuffer, Parallel, Pool, Serial};
use opweave_tensor::{DType, DeviceId};

/// A buffer of `elements` small numbers of `dtype`.
fn buffer(dtype: DType, elements: usize) -> HostBuffer {
    let bytes = elements * dtype.bits() / 8;
    let buffer =
        HostBuffer::new(DeviceId::CPU, bytes.next_multiple_of(8), 64).expect("there is memory for the example");
    // 0.5 to 1.5 in steps, in the bits of each dtype.
    let word = |i: usize| {
        let small = |j: u64| ((i as u64).wrapping_mul(0x9e37_79b9) >> (7 * j)) & 0x7f;
        match dtype {
            DType::F32 => (0..2).fold(0, |w, j| w << 32 | 0x3f00_0000 | small(j) << 16),
            DType::F16 => (0..4).fold(0, |w, j| w << 16 | 0x3800 | small(j) << 3),
            _ => (0..4).fold(0, |w, j| w << 16 | 0x3f00 | small(j)),
        }
    };
    let words = buffer.data().cast::<u64>();
    for i in 0..bytes.div_ceil(8) {
        // SAFETY: within the buffer, which is aligned to 64.
        unsafe { words.add(i).write(word(i)) };
    }
    buffer
}

/// `elements` ones of `dtype`. A weight that calls in place keep their input in the normal range with, however often it
/// goes through.
fn ones(dtype: DType, elements: usize) -> HostBuffer {
    let mut buffer = HostBuffer::new(DeviceId::CPU, elements * dtype.bits() / 8, 64).expect("there is memory");
    let bytes: Vec<u8> = match dtype {
        DType::F32 => (0..elements).flat_map(|_| 1.0_f32.to_ne_bytes()).collect(),
        DType::F16 => (0..elements).flat_map(|_| half::f16::ONE.to_ne_bytes()).collect(),
        _ => (0..elements).flat_map(|_| half::bf16::ONE.to_ne_bytes()).collect(),
    };
    buffer.write(0, &bytes).expect("the ones fit");
    buffer
}

/// Seconds a call.
fn time(calls: usize, subject: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| subject());
    start.elapsed().as_secs_f64() / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A name, how many tensors it reads or writes, and what to call.
type Subject<'a> = (&'a str, usize, Box<dyn FnMut() + 'a>);

fn compare(name: &str, isa: Isa, pool: &dyn Parallel, dtype: DType, rows: usize, width: usize) {
    let elements = rows * width;
    let bytes = elements * dtype.bits() / 8;
    let [a, b, c, o] = [(); 4].map(|()| buffer(dtype, elements));
    let w = buffer(dtype, width);
    let view = |buffer: &HostBuffer| Rows { data: buffer.data(), stride: width as isize };
    let one = ones(dtype, width);
    let (weight, unity) = (Some(Columns { data: w.data(), dtype }), Some(Columns { data: one.data(), dtype }));
    let (input, residual, gate, out) = (view(&a), view(&b), view(&c), view(&o));
    let rms = RmsCall {
        rows,
        width,
        dtype,
        input,
        residual: None,
        out,
        weight,
        weight_plus_one: false,
        statistic: Statistic::RootMeanSquare { eps: 1e-6 },
        round_normalised: false,
        round_sum: false,
    };
    let layer = LayerCall { rows, width, dtype, input, out, weight, bias: weight, eps: 1e-5 };
    let gated = GatedCall {
        rows,
        width,
        groups: 1,
        dtype,
        input,
        z: gate,
        out,
        weight,
        eps: 1e-5,
        activation: Activation::Silu,
        place: GatePlace::AfterNorm,
        round_normalised: false,
    };
    let stream = bytes >= last_level_cache();
    let (rounds, calls) = (if stream { 41 } else { 201 }, ((1 << 22) / bytes).max(1));
    let copy = || {
        // SAFETY: two buffers of `bytes` bytes, aligned to 64.
        unsafe { ceilings::copy(isa, pool, input.data, out.data, bytes, stream) }
    };
    // SAFETY: buffers of `rows * width` elements that live to the end of this function; nothing else uses them meanwhile.
    let run = |call: &RmsCall| unsafe { rms_norm(isa, pool, call) };
    let subjects: Vec<Subject<'_>> = vec![
        ("copy", 2, Box::new(copy)),
        ("rms_norm", 2, Box::new(|| run(&rms))),
        ("rms_norm in place", 2, Box::new(|| run(&RmsCall { out: input, weight: unity, ..rms }))),
        ("rms_norm rounded", 2, Box::new(|| run(&RmsCall { round_normalised: true, ..rms }))),
        ("fused_add_rms_norm", 4, Box::new(|| run(&RmsCall { residual: Some(residual), ..rms }))),
        (
            "fused_add in place",
            4,
            Box::new(|| run(&RmsCall { residual: Some(residual), out: input, weight: unity, ..rms })),
        ),
        // SAFETY: as for `run`.
        ("layer_norm", 2, Box::new(|| unsafe { layer_norm(isa, pool, &layer) })),
        ("l2_norm", 2, Box::new(|| run(&RmsCall { statistic: Statistic::RootSum { eps: 1e-6 }, weight: None, ..rms }))),
        // SAFETY: as for `run`.
        ("rms_norm_gated", 3, Box::new(|| unsafe { rms_norm_gated(isa, pool, &gated) })),
    ];
    let only = std::env::args().nth(2).unwrap_or_default();
    for (label, tensors, mut subject) in subjects.into_iter().filter(|(label, ..)| label.contains(&only)) {
        let mut copy = copy;
        let (mut times, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (ceiling, taken) = (time(calls, &mut copy) / 2.0, time(calls, &mut subject) / tensors as f64);
            times.push(taken);
            shares.push(ceiling / taken);
        }
        let taken = median(times);
        println!(
            "{name:24} {dtype:5} {:8} x{} {label:20} {:10.2} us {:7.1} GB/s {:5.0} %",
            isa.name(),
            pool.threads(),
            taken * tensors as f64 * 1e6,
            bytes as f64 / taken / 1e9,
            100.0 * median(shares)
        );
    }
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let pool = match Pool::new(threads) {
        Ok(pool) => pool,
        Err(error) => return eprintln!("failed to {error}"),
    };
    for isa in Isa::available() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            if format!("cache {}", isa.name()).contains(&filter) {
                compare("in cache 16x4096", isa, &Serial, dtype, 16, 4096);
            }
            if format!("narrow {}", isa.name()).contains(&filter) {
                compare("narrow 4096x128", isa, &Serial, dtype, 4096, 128);
            }
            if format!("memory {}", isa.name()).contains(&filter) {
                let rows = (96 << 20) / 4096 / (dtype.bits() / 8);
                compare("96 MiB", isa, &pool, dtype, rows, 4096);
            }
        }
        let start = Instant::now();
        let operations = ceilings::multiply_add(isa, &Serial, 10_000_000);
        println!("multiply-add {} {:.1} GFLOP/s", isa.name(), operations as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
}
