// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times linear layers: few rows against plain reads of the weight's bytes, many against the multiply-adds of the processor.
//!
//! `cargo run --release -p opweave-cpu --example linear_speed [-- FILTER]`
//!
//! Kernel and ceiling take turns; the best time of each counts, since everything else on the machine can only slow them
//! down. Weights are taken in turns out of more than the last-level cache where there are few rows. The filter is compared
//! with `decode` or `prefill` and the instruction set.

use std::num::NonZero;
use std::time::Instant;

use opweave_contract::ops::linear::{InputMode, LinearActivation, WeightOffset};
use opweave_cpu::linear::{
    FloatCall, Layer, QuantizedCall, Scales, Weight, code_bytes, float_bytes, float_linear, quantized_linear,
};
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_cpu::{Rows, ceilings};
use opweave_device::cpu::{HostBuffer, Parallel, Pool};
use opweave_tensor::{DType, DeviceId};

/// Memory in huge pages, as an engine's is: every 16 bits of it are an ordinary number in f16, in bf16, and as half of an f32.
struct Buffer(HostBuffer);

impl Buffer {
    fn new(bytes: usize) -> Buffer {
        let mut buffer = HostBuffer::new(DeviceId::CPU, bytes + 128, 64).expect("there is memory");
        for (i, number) in (0..).zip(buffer.elements_mut::<u64>().expect("aligned")) {
            *number = 0x3c00_3c00_3c00_3c00 | (i * 0x9e37_79b9_u64) & 0x00ff_00ff_00ff_00ff;
        }
        Buffer(buffer)
    }

    fn data(&mut self) -> *mut u8 {
        opweave_device::Buffer::data(&self.0)
    }
}

/// Weights side by side in one block of memory, as an engine keeps them.
struct Arena {
    buffer: Buffer,
    taken: usize,
}

impl Arena {
    fn take(&mut self, bytes: usize) -> *mut u8 {
        let at = self.buffer.data().wrapping_add(self.taken);
        self.taken += bytes.next_multiple_of(64);
        at
    }
}

/// What a weight is.
#[derive(Clone, Copy)]
enum Kind {
    Float(DType),
    /// 4-bit codes with scale and minimum of f16 for groups of 32.
    Q4(InputMode),
}

struct Weights {
    kind: Kind,
    shape: (usize, usize),
    /// Weight, scales and minima of each.
    copies: Vec<[*mut u8; 3]>,
}

impl Weights {
    /// Bytes of a packed weight, and of its scales and minima.
    fn parts(kind: Kind, (k, n): (usize, usize)) -> [usize; 3] {
        match kind {
            Kind::Float(dtype) => [float_bytes(dtype, k, n), 0, 0],
            Kind::Q4(_) => [code_bytes(4, k, n), k / 32 * n * 2, k / 32 * n * 2],
        }
    }

    /// So many weights of each shape.
    fn all(kind: Kind, shapes: &[((usize, usize), usize)]) -> (Vec<Weights>, Arena) {
        let room = |parts: [usize; 3]| parts.map(|bytes| bytes.next_multiple_of(64)).iter().sum::<usize>();
        let bytes = shapes.iter().map(|&(shape, copies)| copies * room(Weights::parts(kind, shape))).sum();
        let mut arena = Arena { buffer: Buffer::new(bytes), taken: 0 };
        let mut take = |shape| Weights::parts(kind, shape).map(|bytes| arena.take(bytes));
        let weights = shapes.iter().map(|&(shape, copies)| Weights {
            kind,
            shape,
            copies: (0..copies).map(|_| take(shape)).collect(),
        });
        (weights.collect(), arena)
    }

    /// Bytes of one copy.
    fn bytes(&self) -> usize {
        let (k, n) = self.shape;
        match self.kind {
            Kind::Float(dtype) => k * n * dtype.bits() / 8,
            Kind::Q4(_) => k * n / 2 + k / 32 * n * 4,
        }
    }

    fn run(&self, isa: Isa, pool: &dyn Parallel, tokens: usize, input: *mut u8, out: *mut u8) {
        let (k, n) = self.shape;
        let dtype = if let Kind::Float(dtype) = self.kind { dtype } else { DType::F32 };
        let layer = Layer {
            tokens,
            in_features: k,
            out_features: n,
            dtype,
            input: Rows { data: input, stride: k as isize },
            bias: None,
            out_dtype: DType::F32,
            out: Rows { data: out, stride: n as isize },
            activation: LinearActivation::None,
        };
        for &[weight, scales, minima] in &self.copies {
            let weight = Weight::Packed(weight);
            let rows = |data| Rows { data, stride: n as isize };
            // SAFETY: buffers of the sizes that the call states, which nothing else uses.
            unsafe {
                match self.kind {
                    Kind::Float(dtype) => float_linear(isa, pool, &FloatCall { layer, weight, weight_dtype: dtype }),
                    Kind::Q4(input_mode) => {
                        let scales = Scales {
                            group_size: 32,
                            dtype: DType::F16,
                            scales: rows(scales),
                            offset: WeightOffset::Minimum,
                            offsets: rows(minima),
                        };
                        quantized_linear(isa, pool, &QuantizedCall { layer, weight, bits: 4, scales, input_mode });
                    }
                }
            }
        }
    }
}

fn best(rounds: usize, subjects: &mut [Box<dyn FnMut() + '_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; subjects.len()];
    for _ in 0..rounds {
        for (best, subject) in best.iter_mut().zip(subjects.iter_mut()) {
            let start = Instant::now();
            subject();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

/// Few rows: the share of the rate at which the same bytes are read.
fn decode(name: &str, isa: Isa, pool: &dyn Parallel, tokens: usize, shapes: &[((usize, usize), usize)], kind: Kind) {
    let (weights, _arena) = Weights::all(kind, shapes);
    let bytes: usize = weights.iter().map(|w| w.bytes() * w.copies.len()).sum();
    let widest = weights.iter().map(|w| w.shape.0.max(w.shape.1)).max().unwrap_or(0);
    let (mut plain, mut input, mut out) =
        (Buffer::new(bytes), Buffer::new(widest * tokens * 4), Buffer::new(widest * tokens * 4));
    let (plain, input, out) = (plain.data(), input.data(), out.data());
    let calls: usize = weights.iter().map(|w| w.copies.len()).sum();
    let times = best(
        12,
        &mut [
            // SAFETY: a buffer of as many bytes.
            Box::new(|| unsafe { ceilings::read(isa, pool, plain, bytes) }),
            Box::new(|| weights.iter().for_each(|w| w.run(isa, pool, tokens, input, out))),
        ],
    );
    println!(
        "{name:34} {:8} x{} {:6.1} MB in {calls:4} calls: {:8.2} ms, read {:8.2} ms, {:5.1} GB/s, {:4.0} % of reading",
        isa.name(),
        pool.threads(),
        bytes as f64 / 1e6,
        times[1] * 1e3,
        times[0] * 1e3,
        bytes as f64 / times[1] / 1e9,
        100.0 * times[0] / times[1]
    );
}

/// Many rows: the share of the rate of plain f32 multiply-adds.
fn prefill(name: &str, isa: Isa, pool: &dyn Parallel, tokens: usize, (k, n): (usize, usize), kind: Kind) {
    let (weights, _arena) = Weights::all(kind, &[((k, n), 1)]);
    let (mut input, mut out) = (Buffer::new(k * tokens * 4), Buffer::new(n * tokens * 4));
    let (input, out) = (input.data(), out.data());
    let rounds = 400_000;
    let flops = ceilings::multiply_add(isa, pool, rounds) as f64;
    let times = best(
        6,
        &mut [
            Box::new(|| _ = ceilings::multiply_add(isa, pool, rounds)),
            Box::new(|| weights.iter().for_each(|w| w.run(isa, pool, tokens, input, out))),
        ],
    );
    let rate = 2.0 * (tokens * k * n) as f64 / times[1];
    println!(
        "{name:34} {:8} x{} {tokens}x{k}x{n}: {:8.2} ms, {:6.1} GFLOP/s, {:4.0} % of multiply-adds",
        isa.name(),
        pool.threads(),
        times[1] * 1e3,
        rate / 1e9,
        100.0 * rate / (flops / times[0])
    );
}

/// The weights of SmolLM2-135M and how many there are of each, the table of the vocabulary last.
const SMOLLM2: [((usize, usize), usize); 5] =
    [((576, 576), 60), ((576, 192), 60), ((576, 1536), 60), ((1536, 576), 30), ((576, 49_152), 1)];

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let pool = match Pool::new(threads) {
        Ok(pool) => pool,
        Err(error) => return eprintln!("failed to {error}"),
    };
    let kinds = [
        ("f32", Kind::Float(DType::F32)),
        ("bf16", Kind::Float(DType::BF16)),
        ("f16", Kind::Float(DType::F16)),
        ("q4_1 i8_block32", Kind::Q4(InputMode::I8Block32)),
        ("q4_1 as_is", Kind::Q4(InputMode::AsIs)),
    ];
    for isa in Isa::available().into_iter().rev() {
        for (name, kind) in kinds {
            if format!("decode {}", isa.name()).contains(&filter) {
                let one: usize = Weights::parts(kind, (4096, 4096)).iter().sum();
                let copies = (2 * last_level_cache()).div_ceil(one);
                for tokens in [1, 4] {
                    let name = format!("{name} 4096x4096, {tokens} rows");
                    decode(&name, isa, &pool, tokens, &[((4096, 4096), copies)], kind);
                }
                decode(&format!("{name} smollm2_135m, a token"), isa, &pool, 1, &SMOLLM2, kind);
            }
            if format!("prefill {}", isa.name()).contains(&filter) {
                prefill(name, isa, &pool, 512, (4096, 4096), kind);
                prefill(name, isa, &pool, 512, (576, 1536), kind);
            }
        }
    }
}
