// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Times embedding, the rotary family and the paged cache against plain copies of the same bytes.
//!
//! `cargo run --release -p opweave-cpu --example tables_speed [-- MIB [ISA]]`
//!
//! Each kernel takes turns with the copy; the share is the median over the pairs, since the machine drifts.

use std::num::NonZero;
use std::time::Instant;

use opweave_cpu::embedding::{GatherCall, gather};
use opweave_cpu::indices::Indices;
use opweave_cpu::kv_cache::{Paged, ScatterCall, scatter};
use opweave_cpu::normalization::Columns;
use opweave_cpu::rotary::{CosSin, HeadNorm, Heads, RotaryCall, rotate};
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_cpu::{Rows, ceilings};
use opweave_device::Buffer as _;
use opweave_device::cpu::{HostBuffer, Parallel, Pool};
use opweave_tensor::{DType, DeviceId};

const PAIRS: usize = 31;

/// Memory as the `cpu` device gives it, every 16 bits of it a number near one in bf16.
struct Buffer(HostBuffer);

impl Buffer {
    fn new(bytes: usize) -> Buffer {
        let mut buffer = HostBuffer::new(DeviceId::CPU, bytes.next_multiple_of(8), 64).expect("there is memory");
        let words: Vec<u8> = (0..bytes as u64 / 8 + 1)
            .flat_map(|i| (0x3f80_3f81_3f82_3f83_u64 ^ (i & 7)).to_ne_bytes())
            .take(bytes.next_multiple_of(8))
            .collect();
        buffer.write(0, &words).expect("the numbers fit");
        Buffer(buffer)
    }

    fn data(&mut self) -> *mut u8 {
        self.0.data()
    }
}

/// Prints the median share of the copy's rate that `kernel` reaches, both moving `bytes` each way.
fn share(name: &str, isa: Isa, bytes: usize, copy: &dyn Fn(usize), kernel: &dyn Fn()) {
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    copy(bytes);
    kernel();
    let mut pairs: Vec<(f64, f64)> = (0..PAIRS).map(|_| (time(&|| copy(bytes)), time(kernel))).collect();
    pairs.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let share = |at: usize| 100.0 * pairs[at].0 / pairs[at].1;
    let rate = 2.0 * bytes as f64 / pairs[PAIRS / 2].1 / 1e9;
    let (low, high) = (share(PAIRS / 10), share(PAIRS - 1 - PAIRS / 10));
    println!("{:8} {name:28} {rate:6.1} GB/s {:4.0} % of copy ({low:.0} to {high:.0})", isa.name(), share(PAIRS / 2));
}

fn measure(isa: Isa, pool: &dyn Parallel, mib: usize) {
    let bytes = mib << 20;
    let (mut a, mut b) = (Buffer::new(bytes), Buffer::new(bytes));
    let (source, target) = (a.data(), b.data());
    // SAFETY: two buffers of `bytes` bytes or more, aligned to 64.
    let copy = |n: usize| unsafe { ceilings::copy(isa, pool, source, target, n, n >= last_level_cache()) };

    // A table of as many rows as are asked for, in an order that no prefetcher guesses.
    let row = 8192;
    let tokens = bytes / row;
    let ids: Vec<i32> = (0..tokens).map(|t| (t * 7919 % tokens) as i32).collect();
    let ids = Indices { data: ids.as_ptr().cast(), dtype: DType::I32, len: tokens };
    let rows = |data| Rows { data, stride: row as isize };
    let call = GatherCall { ids, first: 0, rows: tokens, row_bytes: row, table: rows(source), out: rows(target) };
    // SAFETY: buffers of `tokens` rows; nothing else uses them meanwhile.
    share("embedding 4096 bf16", isa, bytes, &copy, &|| unsafe { gather(isa, pool, &call) });

    // 32 query heads and 8 key heads of 128 in one packed projection, with 8 value heads where they are normalised first.
    let (positions, table_rows) = (4096, 128);
    let mut table = Buffer::new(positions * table_rows * 4);
    let cache = CosSin { data: table.data(), dtype: DType::F32, stride: 128, positions };
    let mut weight = Buffer::new(256);
    let weight = Some(Columns { data: weight.data(), dtype: DType::BF16 });
    for (name, normed, interleaved) in
        [("rotary neox", false, false), ("rotary interleaved", false, true), ("fused_qk_norm_rope", true, false)]
    {
        let width = (32 + 8 + if normed { 8 } else { 0 }) * 128;
        let tokens = bytes / (width * 2);
        let at: Vec<i64> = (0..tokens).map(|t| (t % positions) as i64).collect();
        let norm = normed.then_some(HeadNorm { weight, eps: 1e-6, round: false });
        let heads = |first: usize, count| {
            let data = source.wrapping_add(first * 256);
            Some(Heads { data, count, token_stride: width as isize, head_stride: 128, norm })
        };
        let call = RotaryCall {
            positions: Indices { data: at.as_ptr().cast(), dtype: DType::I64, len: tokens },
            heads: [heads(0, 32), heads(32, 8)],
            head_dim: 128,
            rotary_dim: 128,
            dtype: DType::BF16,
            cache,
            interleaved,
            rounded: false,
        };
        // SAFETY: rows of one buffer and a table of `positions` rows; nothing else uses them meanwhile.
        share(name, isa, tokens * 40 * 256, &copy, &|| unsafe { rotate(isa, pool, &call) });
    }

    // Keys and values of 8 heads of 128, to pages in a mixed order.
    let each = bytes / 2;
    let tokens = each / 2048 / 16 * 16;
    let pages = tokens / 16;
    let slots: Vec<i64> = (0..tokens).map(|t| (((t / 16 * 7919) % pages) * 16 + t % 16) as i64).collect();
    for (name, codes, heads_outside) in
        [("paged cache nhd", false, false), ("paged cache hnd", false, true), ("paged cache f8", true, false)]
    {
        let paged = |half: usize| Paged {
            source: source.wrapping_add(half * each),
            token_stride: 1024,
            head_stride: 128,
            width: 128,
            pages: target.wrapping_add(half * each),
            page_stride: 16 * 1024,
            scales: None,
        };
        let call = ScatterCall {
            slots: Indices { data: slots.as_ptr().cast(), dtype: DType::I64, len: tokens },
            tensors: [paged(0), paged(1)],
            heads: 8,
            page_size: 16,
            pages,
            heads_outside,
            dtype: DType::BF16,
            codes,
            scale_per_head: false,
        };
        // Codes are half as many bytes: their ceiling is a copy of three quarters.
        let moved = 2 * tokens * 2048;
        let moved = if codes { moved / 4 * 3 } else { moved };
        // SAFETY: two halves of each buffer; nothing else uses them meanwhile.
        share(name, isa, moved, &copy, &|| unsafe { scatter(isa, pool, &call) });
    }
}

fn main() {
    let mib = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(96);
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let pool = match Pool::new(threads) {
        Ok(pool) => pool,
        Err(error) => return eprintln!("failed to {error}"),
    };
    let only = std::env::args().nth(2);
    for isa in Isa::available().into_iter().filter(|isa| only.as_deref().is_none_or(|only| only == isa.name())) {
        measure(isa, &pool, mib);
    }
}
