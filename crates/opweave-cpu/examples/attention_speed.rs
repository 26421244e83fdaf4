// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times attention: decoding against reading the same bytes, prefill against multiplying and adding alone.
//!
//! `cargo run --release -p opweave-cpu --example attention_speed [-- decode|prefill [ISA]]`
//!
//! Each kernel takes turns with its ceiling; the share is the median over the pairs, since the machine drifts.

use std::num::NonZero;
use std::time::Instant;

use opweave_contract::ops::attention::LseBase;
use opweave_cpu::attention::{
    Activations, Call, Heads, Keys, Plane, Ranges, Scoring, Table, decode, prefill, scratch_bytes,
};
use opweave_cpu::ceilings;
use opweave_cpu::indices::Indices;
use opweave_cpu::simd::Isa;
use opweave_device::Buffer as _;
use opweave_device::cpu::{HostBuffer, Parallel, Pool};
use opweave_tensor::{DType, DeviceId};

const PAIRS: usize = 15;
const HEADS: Heads = Heads { queries: 32, keys: 8, width: 128, width_v: 128 };
const PAGE: usize = 16;
/// Turns of the multiply-adds from which their number is learnt.
const ROUNDS: u64 = 1000;

/// Memory as the `cpu` device gives it, full of numbers of the dtype about zero.
fn buffer(elements: usize, dtype: DType) -> HostBuffer {
    let bytes = elements * dtype.bits() / 8;
    let mut buffer = HostBuffer::new(DeviceId::CPU, bytes.next_multiple_of(8), 64).expect("there is memory");
    let mut state = 1_u32;
    let mut data = Vec::with_capacity(bytes + 8);
    while data.len() < bytes.next_multiple_of(8) {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let value = (state >> 8) as f32 / 8_388_608.0 - 1.0;
        match dtype {
            DType::F32 => data.extend(value.to_ne_bytes()),
            DType::BF16 => data.extend(half::bf16::from_f32(value).to_ne_bytes()),
            _ => data.extend(half::f16::from_f32(value).to_ne_bytes()),
        }
    }
    buffer.write(0, &data).expect("the numbers fit");
    buffer
}

/// Prints the median of the ceiling's time over the kernel's, both doing `work` units of `unit`.
fn share(name: &str, work: f64, unit: &str, ceiling: &dyn Fn(), kernel: &dyn Fn()) {
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    ceiling();
    kernel();
    let mut pairs: Vec<(f64, f64)> = (0..PAIRS).map(|_| (time(ceiling), time(kernel))).collect();
    pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let share = |at: usize| 100.0 * pairs[at].0 / pairs[at].1;
    let rate = work / pairs[PAIRS / 2].1 / 1e9;
    println!("{name:44} {rate:7.1} {unit} {:4.0} % ({:.0} to {:.0})", share(PAIRS / 2), share(2), share(PAIRS - 3));
}

fn scoring() -> Scoring {
    Scoring { scale: 0.088, cap: None, window: None, causal: true, base: LseBase::E }
}

fn activations(buffer: &mut HostBuffer) -> Activations {
    Activations { data: buffer.data(), token: 32 * 128, head: 128 }
}

fn measure_decode(isa: Isa, pool: &dyn Parallel, (batch, context): (usize, usize), dtype: DType, heads_outside: bool) {
    let (pages, row) = (batch * context / PAGE, HEADS.keys * HEADS.width);
    let (k, v) = (buffer(pages * PAGE * row, dtype), buffer(pages * PAGE * row, dtype));
    let (mut q, mut out) = (buffer(batch * 4096, dtype), buffer(batch * 4096, dtype));
    let places: Vec<i32> = (0..pages).map(|p| (p * 7919 % pages) as i32).collect();
    let lens = vec![context as i32; batch];
    let indices = |values: &[i32]| Indices { data: values.as_ptr().cast(), dtype: DType::I32, len: values.len() };
    let (token, head) = if heads_outside { (128, PAGE * 128) } else { (row, 128) };
    let plane = |data: *const u8| Plane {
        data,
        page: (PAGE * row) as isize,
        token: token as isize,
        head: head as isize,
        scales: None,
    };
    let each = context / PAGE;
    let call = Call {
        q: activations(&mut q),
        keys: Keys {
            k: plane(k.data()),
            v: plane(v.data()),
            page_size: PAGE,
            pages,
            table: Table::Blocks { pages: indices(&places), stride: each as isize, each, lens: indices(&lens) },
            scale_per_head: false,
        },
        out: activations(&mut out),
        lse: None,
        sinks: None,
        heads: HEADS,
        scoring: scoring(),
        dtype,
        codes: false,
    };
    let scratch_size = scratch_bytes(&HEADS, batch, batch * context);
    let scratch = HostBuffer::new(DeviceId::CPU, scratch_size, 64).expect("there is memory");
    let scratch = (scratch.data(), scratch_size);
    let bytes = pages * PAGE * row * dtype.bits() / 8;
    let (k, v) = (k.data().cast_const(), v.data().cast_const());
    // SAFETY: two buffers of so many bytes, aligned to 64; a call whose tables are within them.
    let read = || unsafe {
        ceilings::read(isa, pool, k, bytes);
        ceilings::read(isa, pool, v, bytes);
    };
    let layout = if heads_outside { "hnd" } else { "nhd" };
    let name = format!("{} decode b{batch} l{context} {dtype} {layout}, of read", isa.name());
    // SAFETY: as above; nothing else uses the buffers meanwhile.
    share(&name, 2.0 * bytes as f64, "GB/s", &read, &|| unsafe { decode(isa, pool, &call, batch, scratch) });
}

fn measure_prefill(isa: Isa, pool: &dyn Parallel, tokens: usize, dtype: DType) {
    let row = HEADS.keys * HEADS.width;
    let (k, v) = (buffer(tokens * row, dtype), buffer(tokens * row, dtype));
    let (mut q, mut out) = (buffer(tokens * 4096, dtype), buffer(tokens * 4096, dtype));
    let starts = [0, tokens as i32];
    let starts = Indices { data: starts.as_ptr().cast(), dtype: DType::I32, len: 2 };
    let plane = |data: *const u8| Plane { data, page: row as isize, token: 0, head: 128, scales: None };
    let call = Call {
        q: activations(&mut q),
        keys: Keys {
            k: plane(k.data()),
            v: plane(v.data()),
            page_size: 1,
            pages: tokens,
            table: Table::Rows { indptr: starts },
            scale_per_head: false,
        },
        out: activations(&mut out),
        lse: None,
        sinks: None,
        heads: HEADS,
        scoring: scoring(),
        dtype,
        codes: false,
    };
    // Two products of every feature of every pair that is seen.
    let flops = (tokens * (tokens + 1) / 2 * HEADS.queries * 2 * (HEADS.width + HEADS.width_v)) as f64;
    let rounds = ROUNDS * flops as u64 / ceilings::multiply_add(isa, pool, ROUNDS);
    let name = format!("{} prefill t{tokens} {dtype} causal, of multiply-add", isa.name());
    let all = || {
        std::hint::black_box(ceilings::multiply_add(isa, pool, rounds));
    };
    // SAFETY: a call whose rows are within its buffers; nothing else uses them meanwhile.
    share(&name, flops, "GFLOP/s", &all, &|| unsafe { prefill(isa, pool, &call, Ranges { starts, tokens }) });
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let asked = |what: &str| wanted.first().is_none_or(|first| first == what);
    let isas = Isa::available().into_iter().filter(|isa| wanted.get(1).is_none_or(|name| name == isa.name()));
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let pool = Pool::new(threads).expect("the threads start");
    println!("{threads} threads");
    for isa in isas {
        if asked("decode") {
            for dtype in [DType::BF16, DType::F32, DType::F16] {
                measure_decode(isa, &pool, (8, 4096), dtype, false);
            }
            measure_decode(isa, &pool, (8, 4096), DType::BF16, true);
            measure_decode(isa, &pool, (1, 32768), DType::BF16, false);
        }
        if asked("prefill") {
            for dtype in [DType::BF16, DType::F32] {
                measure_prefill(isa, &pool, 512, dtype);
            }
        }
    }
}
