// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times gated activations and softmax against plain copies of the same bytes.
//!
//! `cargo run --release -p opweave-cpu --example activation_speed [-- FILTER]`
//!
//! Kernel and copy take turns; of each round the ratio counts, and of all rounds the median.

use std::num::NonZero;
use std::time::Instant;

use opweave_cpu::Rows;
use opweave_cpu::activation::{GateFunction, ProductCall, activation_product};
use opweave_cpu::ceilings;
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_cpu::softmax::{SoftmaxCall, softmax};
use opweave_device::Buffer;
use opweave_device::cpu::{HostBuffer, Parallel, Pool, Serial};
use opweave_tensor::{DType, DeviceId};

fn time(calls: usize, subject: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| subject());
    start.elapsed().as_secs_f64() / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// `bytes` bytes of numbers from about -2 to 2 without a pattern, in the bits of `dtype`.
fn buffer(dtype: DType, bytes: usize) -> HostBuffer {
    let mut buffer = HostBuffer::new(DeviceId::CPU, bytes, 64).expect("there is memory for the example");
    let mut state = 1_u32;
    let mut number = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    let numbers: Vec<u8> = match dtype {
        DType::F32 => (0..bytes / 4).flat_map(|_| number().to_ne_bytes()).collect(),
        DType::F16 => (0..bytes / 2).flat_map(|_| half::f16::from_f32(number()).to_ne_bytes()).collect(),
        _ => (0..bytes / 2).flat_map(|_| half::bf16::from_f32(number()).to_ne_bytes()).collect(),
    };
    buffer.write(0, &numbers).expect("the numbers fit");
    buffer
}

/// A name, how many bytes it reads and writes, and what to call.
type Subject<'a> = (&'a str, usize, Box<dyn FnMut() + 'a>);

fn compare(name: &str, isa: Isa, pool: &dyn Parallel, dtype: DType, rows: usize, width: usize, wide: (usize, usize)) {
    let bytes = rows * width * dtype.bits() / 8;
    let (wide_rows, wide_width) = wide;
    let wide_bytes = wide_rows * wide_width * dtype.bits() / 8;
    let largest = bytes.max(wide_bytes);
    let [gate_up, up, out] = [2 * largest, bytes, 2 * largest].map(|bytes| buffer(dtype, bytes));
    let view = |data: *mut u8, stride: usize| Rows { data, stride: stride as isize };
    let (a, b, o) = (gate_up.data(), up.data(), out.data());
    let separate = ProductCall {
        rows,
        width,
        dtype,
        gate: view(a, width),
        up: view(b, width),
        out: view(o, width),
        function: GateFunction::Silu,
        round_activation: false,
    };
    let behind = a.wrapping_add(width * dtype.bits() / 8);
    let packed = ProductCall { gate: view(a, 2 * width), up: view(behind, 2 * width), ..separate };
    let probabilities = SoftmaxCall {
        rows: wide_rows,
        width: wide_width,
        dtype,
        out_dtype: dtype,
        input: view(a, wide_width),
        out: view(o, wide_width),
        temperature: 1.0,
        logarithm: false,
    };
    // SAFETY: buffers of at least the bytes that each call's shape says, which live to the end; nothing else uses them.
    let product = |call: &ProductCall| unsafe { activation_product(isa, pool, call) };
    // SAFETY: as above.
    let row = |call: &SoftmaxCall| unsafe { softmax(isa, pool, call) };
    let gelu = ProductCall { function: GateFunction::Gelu, ..packed };
    let tanh = ProductCall { function: GateFunction::GeluTanh, ..packed };
    let rounded = ProductCall { round_activation: true, ..packed };
    let logarithms = SoftmaxCall { logarithm: true, ..probabilities };
    let in_place = SoftmaxCall { out: probabilities.input, ..probabilities };
    let subjects: Vec<Subject<'_>> = vec![
        ("silu packed", 3 * bytes, Box::new(|| product(&packed))),
        ("silu separate", 3 * bytes, Box::new(|| product(&separate))),
        ("silu rounded", 3 * bytes, Box::new(|| product(&rounded))),
        ("gelu", 3 * bytes, Box::new(|| product(&gelu))),
        ("gelu_tanh", 3 * bytes, Box::new(|| product(&tanh))),
        ("softmax", 2 * wide_bytes, Box::new(|| row(&probabilities))),
        ("log_softmax", 2 * wide_bytes, Box::new(|| row(&logarithms))),
        ("softmax in place", 2 * wide_bytes, Box::new(|| row(&in_place))),
    ];
    for (label, moved, mut subject) in subjects {
        // The copy reads half of the bytes and writes half.
        let half = moved / 2;
        let stream = half >= last_level_cache();
        // SAFETY: two buffers of at least `half` bytes, aligned to 64.
        let mut copy = || unsafe { ceilings::copy(isa, pool, a, o, half, stream) };
        let (rounds, calls) = (if stream { 15 } else { 101 }, ((1 << 23) / moved).max(1));
        let (mut times, mut shares) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (ceiling, taken) = (time(calls, &mut copy), time(calls, &mut subject));
            times.push(taken);
            shares.push(ceiling / taken);
        }
        let (taken, share) = (median(times), 100.0 * median(shares));
        let elements = if moved == 3 * bytes { rows * width } else { wide_rows * wide_width };
        println!(
            "{name:10} {dtype:5} {:8} x{} {label:18} {:10.2} us {:6.1} GB/s {:6.2} elements/ns {share:5.0} %",
            isa.name(),
            pool.threads(),
            taken * 1e6,
            moved as f64 / taken / 1e9,
            elements as f64 / taken / 1e9,
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
            if format!("cache {dtype} {}", isa.name()).contains(&filter) {
                compare("in cache", isa, &Serial, dtype, 16, 14336, (16, 32000));
            }
            if format!("memory {dtype} {}", isa.name()).contains(&filter) {
                let size = dtype.bits() / 8;
                let (rows, wide) = ((64 << 20) / 14336 / size, (64 << 20) / 32000 / size);
                compare("64 MiB", isa, &pool, dtype, rows, 14336, (wide, 32000));
            }
        }
    }
}
