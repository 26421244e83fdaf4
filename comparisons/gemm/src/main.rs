// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear` in f32 against the `gemm` crate on as many threads.
//!
//! `RAYON_NUM_THREADS=2 cargo run --release [-- TOKENS IN_FEATURES OUT_FEATURES]` in this folder; without sizes, those of a prompt
//! and of decoding. The two take turns in rounds that start with the one and the other alternately; the ratio is that of the best
//! times, above 1 when opweave is faster. Before anything is timed the results are compared.
//!
//! opweave's side is a prepared call on slices, checked, with its weight packed beforehand, as an engine has it; gemm's is one
//! call on the plain weight. A weight of several calls is taken out of more memory than the caches hold where there are few rows.

use std::error::Error;
use std::time::Instant;

use opweave::ops::{Linear, LinearProblem, linear};
use opweave::{AnyRef, Config, DType, DeviceId, HostStream, Prepared, Request, TensorMut, TensorRef};

/// Rounds of which the best counts.
const ROUNDS: usize = 7;

/// Numbers in -1..1 without a pattern.
fn numbers(count: usize, mut state: u64) -> Vec<f32> {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

struct Race {
    tokens: usize,
    in_features: usize,
    out_features: usize,
    input: Vec<f32>,
    weights: Vec<Vec<f32>>,
    packed: Vec<Vec<u8>>,
    out: Vec<f32>,
}

/// Where bytes aligned to 64 begin.
fn aligned(bytes: &[u8]) -> usize {
    (bytes.as_ptr() as usize).next_multiple_of(64) - bytes.as_ptr() as usize
}

impl Race {
    fn ours(&mut self, op: &Prepared<Linear>, stream: &HostStream) -> Result<(), Box<dyn Error>> {
        let layout = op.packed().ok_or("the kernel has no layout")?;
        for packed in &self.packed {
            let from = aligned(packed);
            linear(
                op,
                TensorRef::new(&self.input, &[self.tokens, self.in_features])?,
                AnyRef::packed(&packed[from..from + layout.bytes], layout.id),
                None,
                TensorMut::new(&mut self.out, &[self.tokens, self.out_features])?,
                stream,
            )?;
        }
        Ok(())
    }

    fn theirs(&mut self, threads: usize) {
        let (m, n, k) = (self.tokens, self.out_features, self.in_features);
        for weight in &self.weights {
            // SAFETY: slices of m * k, n * k and m * n elements, and strides of rows that follow each other.
            unsafe {
                gemm::gemm(
                    m,
                    n,
                    k,
                    self.out.as_mut_ptr(),
                    1,
                    n as isize,
                    false,
                    self.input.as_ptr(),
                    1,
                    k as isize,
                    weight.as_ptr(),
                    k as isize,
                    1,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    if threads == 1 { gemm::Parallelism::None } else { gemm::Parallelism::Rayon(threads) },
                );
            }
        }
    }
}

fn race((tokens, in_features, out_features): (usize, usize, usize), threads: usize) -> Result<(), Box<dyn Error>> {
    let problem = LinearProblem::new(in_features, out_features, DType::F32);
    let bindings = opweave::runtime().initialize(&Config::new().request(Request::<Linear>::new(problem)))?;
    let op = bindings.prepared::<Linear>(DeviceId::CPU, &problem)?;
    let stream = opweave::host_stream(threads)?;
    let layout = op.packed().ok_or("the kernel has no layout")?.clone();
    let copies = if tokens > 32 { 1 } else { (128_usize << 20).div_ceil(4 * in_features * out_features) };
    let weights: Vec<Vec<f32>> =
        (0..copies).map(|copy| numbers(in_features * out_features, copy as u64 + 2)).collect();
    let mut packed = Vec::new();
    for weight in &weights {
        let mut bytes = vec![0_u8; layout.bytes + 64];
        let from = aligned(&bytes);
        opweave::pack(&op, TensorRef::new(weight, &[out_features, in_features])?, &mut bytes[from..], &stream)?;
        packed.push(bytes);
    }
    let out = vec![0.0; tokens * out_features];
    let input = numbers(tokens * in_features, 1);
    let mut race = Race { tokens, in_features, out_features, input, weights, packed, out };

    race.ours(&op, &stream)?;
    let ours = race.out.clone();
    race.theirs(threads);
    let scale = (in_features as f32).sqrt();
    if let Some(at) = (0..ours.len()).find(|&at| !((ours[at] - race.out[at]).abs() <= 1e-5 * scale)) {
        return Err(format!("element {at}: opweave {}, gemm {}", ours[at], race.out[at]).into());
    }

    let (mut us, mut them) = (f64::INFINITY, f64::INFINITY);
    for round in 0..2 * ROUNDS {
        let start = Instant::now();
        if round % 4 == 0 || round % 4 == 3 {
            race.ours(&op, &stream)?;
            us = us.min(start.elapsed().as_secs_f64() / copies as f64);
        } else {
            race.theirs(threads);
            them = them.min(start.elapsed().as_secs_f64() / copies as f64);
        }
    }
    let rate = |seconds: f64| 2.0 * (tokens * in_features * out_features) as f64 / seconds / 1e9;
    println!(
        "| {tokens}x{in_features}x{out_features} | {} | {:.3} | {:.3} | {:.1} | {:.2} |",
        op.records()[0].spec.name,
        us * 1e3,
        them * 1e3,
        rate(us),
        them / us
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let threads: usize = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    println!("gemm 0.19.0, {threads} threads, f32, best of {ROUNDS} rounds\n");
    println!("| tokens x in x out | row | opweave ms | gemm ms | opweave GFLOP/s | ratio |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
    if let [tokens, in_features, out_features] = sizes[..] {
        return race((tokens, in_features, out_features), threads);
    }
    for shape in [(512, 4096, 4096), (512, 576, 1536), (128, 2048, 2048), (8, 4096, 4096), (1, 4096, 4096)] {
        race(shape, threads)?;
    }
    Ok(())
}
