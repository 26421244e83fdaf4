// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Results depend neither on threads nor on the batch, and large outputs written past the caches are the same.

use std::num::NonZero;

use opweave_contract::ops::normalization::{Gate, GateOrder, L2Form, Sum, WeightMultiply};
use opweave_cpu::simd::{Isa, last_level_cache};
use opweave_device::cpu::{Parallel, Pool, Serial};
use opweave_tensor::DType;

use crate::config::{Config, DTYPES, Op, operators};
use crate::run::{Call, Places};
use crate::tensor::Place;

fn pools() -> Vec<Box<dyn Parallel>> {
    let threads = |n| NonZero::new(n).expect("not zero");
    let pool = |n| Pool::new(threads(n)).expect("the host has threads");
    vec![Box::new(Serial), Box::new(pool(2)), Box::new(pool(3)), Box::new(pool(8))]
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                let call = Call::new(Config::new(op, dtype), 300, 1031, Places::default());
                let mut all = pools().into_iter().map(|pool| {
                    let mut call = call.clone();
                    call.execute_on(isa, &*pool);
                    (call.result().bits(), call.residual.bits())
                });
                let first = all.next().unwrap();
                assert!(all.all(|bits| bits == first), "{} {op:?} {dtype}", isa.name());
            }
        }
    }
}

#[test]
fn a_row_alone_gives_its_bits_in_the_batch() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                let batch = Call::new(Config::new(op, dtype), 5, 77, Places::default());
                let mut whole = batch.clone();
                whole.execute(isa);
                for row in 0..5 {
                    let mut alone = Call::new(Config::new(op, dtype), 1, 77, Places::default());
                    for column in 0..77 {
                        alone.input.set(0, column, batch.input.get(row, column));
                        alone.residual.set(0, column, batch.residual.get(row, column));
                        alone.z.set(0, column, batch.z.get(row, column));
                    }
                    alone.execute(isa);
                    let bytes = 77 * dtype.bits() / 8;
                    assert_eq!(
                        alone.result().bits(),
                        whole.result().bits()[row * bytes..(row + 1) * bytes],
                        "{} {op:?} {dtype} row {row}",
                        isa.name()
                    );
                }
            }
        }
    }
}

/// An output larger than the last-level cache is streamed, and each row is summed while the one before it is written; the same rows in a
/// small call are neither.
#[test]
fn streamed_results_have_the_bits_of_stored_ones() {
    let plain = |op, dtype| Config::new(op, dtype);
    let gated = |gate, groups| Op::Gated(gate, GateOrder::NormThenGate, groups);
    let rounded = |op, dtype| Config { multiply: WeightMultiply::AfterRounding, ..Config::new(op, dtype) };
    // Widths with a part of a block, of four vectors, of two, of one; rows that begin at a vector, or seldom do.
    let (odd, aligned) = (4096 + 125, Place { offset: 0, gap: 3 });
    let everywhere = [
        (plain(Op::Rms, DType::BF16), odd, aligned),
        (plain(Op::Rms, DType::F32), odd, aligned),
        (plain(Op::Rms, DType::F32), odd, Place::default()),
        (plain(Op::Gemma, DType::BF16), 4096, Place::default()),
        (rounded(Op::Rms, DType::F16), odd, aligned),
        (rounded(Op::Rms, DType::BF16), odd, aligned),
        (plain(Op::L2(L2Form::RsqrtSumEps), DType::F16), odd, aligned),
        (plain(Op::FusedAdd(Sum::Unrounded), DType::BF16), odd, aligned),
        (plain(Op::FusedAdd(Sum::Rounded), DType::F16), odd, aligned),
        (plain(Op::FusedAdd(Sum::Unrounded), DType::F32), odd, aligned),
        (plain(Op::Layer, DType::F32), odd, aligned),
        (plain(Op::Layer, DType::F16), odd, aligned),
        (plain(Op::Layer, DType::BF16), 4096, Place::default()),
        (plain(gated(Gate::Silu, 1), DType::F32), odd, aligned),
        (plain(gated(Gate::Silu, 1), DType::F16), odd, aligned),
        (plain(gated(Gate::Silu, 33), DType::BF16), 33 * 128, Place::default()),
        (plain(gated(Gate::Sigmoid, 2), DType::BF16), 2 * 2112, Place::default()),
        (plain(Op::Gated(Gate::Silu, GateOrder::GateThenNorm, 1), DType::BF16), odd, aligned),
    ];
    for isa in Isa::available() {
        for (config, width, out) in everywhere {
            let size = config.dtype.bits() / 8;
            let rows = last_level_cache() / (width * size) + 2;
            // Few distinct rows, so that making them does not take longer than the test.
            let mut few = Call::new(config, 4, width, Places::default());
            // One that f32 cannot sum, and one that begins unlike the rest of it.
            few.input.set(1, 5, f64::INFINITY);
            for column in 0..128 {
                few.input.set(2, column, few.input.get(2, column) + 2000.0);
            }
            let mut large = Call::large(&few, rows, Places { out, ..Places::default() });
            few.execute(isa);
            large.execute_on(isa, &Pool::new(NonZero::new(2).unwrap()).unwrap());
            for (kind, small, all) in
                [("result", few.result(), large.result()), ("residual", &few.residual, &large.residual)]
            {
                let (expected, bits) = (small.bits(), all.bits());
                for (row, bits) in bits.chunks(width * size).enumerate() {
                    let at = row % 4 * width * size;
                    assert!(bits == &expected[at..at + width * size], "{} {config:?} {kind} row {row}", isa.name());
                }
            }
            large.result().assert_intact(&(isa.name(), config));
        }
    }
}
