// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times quantization against plain copies of the same bytes, and argmax against plain reads.
//!
//! `cargo run --release -p opweave-cpu --example quantization_speed [-- FILTER]`
//!
//! Kernel and ceiling take turns; the best time of each counts, since everything else on the machine can only slow them
//! down. The filter is compared with `cache` or `memory` and the instruction set.

use std::num::NonZero;
use std::time::Instant;

use opweave_contract::ops::quantization::{ScaleFormat, largest_code};
use opweave_cpu::Rows;
use opweave_cpu::ceilings;
use opweave_cpu::quantization::{DynamicCall, FixedCall, ScaleRule, dynamic_quant, quantize};
use opweave_cpu::sampling::{ArgmaxCall, argmax};
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_device::Buffer;
use opweave_device::cpu::{HostBuffer, Parallel, Pool, Serial};
use opweave_tensor::{DType, DeviceId};

/// A buffer of numbers of both signs, 0.5 to 1.5 in magnitude.
fn buffer(dtype: DType, bytes: usize) -> HostBuffer {
    let buffer =
        HostBuffer::new(DeviceId::CPU, bytes.next_multiple_of(8), 64).expect("there is memory for the example");
    let word = |i: u64| {
        let mix = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (sign, small) = (|j: u64| (mix >> (40 + j)) & 1, |j: u64| (mix >> (7 * j)) & 0x7f);
        match dtype {
            DType::F32 => (0..2).fold(0, |w, j| w << 32 | sign(j) << 31 | 0x3f00_0000 | small(j) << 16),
            DType::F16 => (0..4).fold(0, |w, j| w << 16 | sign(j) << 15 | 0x3800 | small(j) << 3),
            _ => (0..4).fold(0, |w, j| w << 16 | sign(j) << 15 | 0x3f00 | small(j)),
        }
    };
    let words = buffer.data().cast::<u64>();
    for i in 0..bytes.div_ceil(8) {
        // SAFETY: within the buffer, which is aligned to 64.
        unsafe { words.add(i).write(word(i as u64)) };
    }
    buffer
}

fn best(rounds: usize, calls: usize, subjects: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; subjects.len()];
    for _ in 0..rounds {
        for (best, subject) in best.iter_mut().zip(subjects.iter_mut()) {
            let start = Instant::now();
            (0..calls).for_each(|_| subject());
            *best = best.min(start.elapsed().as_secs_f64() / calls as f64);
        }
    }
    best
}

fn compare(name: &str, isa: Isa, pool: &dyn Parallel, dtype: DType, rows: usize, width: usize) {
    let elements = rows * width;
    let read = elements * dtype.bits() / 8;
    let traffic = read + elements;
    let (a, b, scales) = (buffer(dtype, traffic), buffer(dtype, traffic), buffer(DType::F32, rows * 8));
    let (input, out, scale) = (a.data(), b.data(), scales.data());
    let view = |data| Rows { data, stride: width as isize };
    // As the kernels do, which look at all that they read and write.
    let stream = traffic >= last_level_cache();
    let half = traffic / 2;
    let dynamic = |codes| DynamicCall {
        rows,
        width,
        dtype,
        codes,
        input: view(input),
        out: view(out),
        scale,
        rule: ScaleRule { largest_code: largest_code(codes), floor: 0.0, format: ScaleFormat::F32 },
        i8_range: 127,
    };
    let fixed = |codes, zero_point| FixedCall {
        rows,
        width,
        dtype,
        codes,
        input: view(input),
        out: view(out),
        scale: 0.013,
        zero_point,
        i8_range: 128,
    };
    let greedy =
        ArgmaxCall { rows, width, dtype, logits: view(input), out: scale, index: DType::I64, nan_first: false };
    // SAFETY of all closures: buffers of at least these bytes that live to the end of this function; nothing else uses them.
    let mut subjects: Vec<Box<dyn FnMut() + '_>> = vec![
        // SAFETY: as above, aligned to 64.
        Box::new(|| unsafe { ceilings::copy(isa, pool, input, out, half, stream) }),
        // SAFETY: as above.
        Box::new(|| unsafe { ceilings::read(isa, pool, input, read) }),
        // SAFETY: as above.
        Box::new(|| unsafe { quantize(isa, pool, &fixed(DType::F8E4M3, None)) }),
        // SAFETY: as above.
        Box::new(|| unsafe { quantize(isa, pool, &fixed(DType::I8, None)) }),
        // SAFETY: as above.
        Box::new(|| unsafe { quantize(isa, pool, &fixed(DType::I8, Some(-3))) }),
        // SAFETY: as above.
        Box::new(|| unsafe { dynamic_quant(isa, pool, &dynamic(DType::F8E4M3)) }),
        // SAFETY: as above.
        Box::new(|| unsafe { dynamic_quant(isa, pool, &dynamic(DType::F8E5M2)) }),
        // SAFETY: as above.
        Box::new(|| unsafe { dynamic_quant(isa, pool, &dynamic(DType::I8)) }),
        // SAFETY: as above.
        Box::new(|| unsafe { argmax(isa, pool, &greedy) }),
        // SAFETY: as above.
        Box::new(|| unsafe { argmax(isa, pool, &ArgmaxCall { nan_first: true, ..greedy }) }),
    ];
    let labels = [
        ("copy", traffic, 0),
        ("read", read, 1),
        ("per_tensor f8e4m3", traffic, 0),
        ("per_tensor i8", traffic, 0),
        ("per_tensor i8 zero", traffic, 0),
        ("dynamic f8e4m3", traffic, 0),
        ("dynamic f8e5m2", traffic, 0),
        ("dynamic i8", traffic, 0),
        ("argmax", read, 1),
        ("argmax nan first", read, 1),
    ];
    let (rounds, calls) = (if read > 32 << 20 { 12 } else { 150 }, ((1 << 22) / read).max(1));
    let times = best(rounds, calls, &mut subjects);
    let rate = |i: usize| labels[i].1 as f64 / times[i] / 1e9;
    for (i, (label, _, ceiling)) in labels.iter().enumerate() {
        println!(
            "{name:18} {dtype:5} {:8} x{} {label:20} {:10.2} us {:7.1} GB/s {:6.2} elements/ns {:5.0} %",
            isa.name(),
            pool.threads(),
            times[i] * 1e6,
            rate(i),
            elements as f64 / times[i] / 1e9,
            100.0 * rate(i) / rate(*ceiling)
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
            if format!("memory {}", isa.name()).contains(&filter) {
                compare("64 MiB", isa, &pool, dtype, (64 << 20) / 4096 / (dtype.bits() / 8), 4096);
            }
        }
    }
}
