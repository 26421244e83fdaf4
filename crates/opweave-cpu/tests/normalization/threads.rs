// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Results depend neither on threads nor on the batch, and large outputs written past the caches are the same.

use std::num::NonZero;

use opweave_contract::ops::normalization::{Gate, GateOrder, Sum};
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

/// An output larger than the last-level cache is streamed; the same rows in a small call are not.
#[test]
fn streamed_results_have_the_bits_of_stored_ones() {
    let width = 4096 + 13;
    for isa in Isa::available() {
        for op in [Op::Rms, Op::FusedAdd(Sum::Unrounded), Op::Layer, Op::Gated(Gate::Silu, GateOrder::NormThenGate, 1)]
        {
            for (dtype, gap) in [(DType::BF16, 19), (DType::F32, 19), (DType::F32, 0)] {
                let size = dtype.bits() / 8;
                let rows = last_level_cache() / (width * size) + 2;
                let places = Places { out: Place { offset: 0, gap }, ..Places::default() };
                let config = Config::new(op, dtype);
                // Few distinct rows, so that making them does not take longer than the test.
                let few = Call::new(config, 3, width, Places::default());
                let mut large = Call::large(&few, rows, places);
                let mut small = few.clone();
                small.execute(isa);
                large.execute_on(isa, &Pool::new(NonZero::new(2).unwrap()).unwrap());
                let expected = small.result().bits();
                for (row, bits) in large.result().bits().chunks(width * size).enumerate() {
                    let at = row % 3 * width * size;
                    assert!(bits == &expected[at..at + width * size], "{} {op:?} {dtype} row {row}", isa.name());
                }
                large.result().assert_intact(&(isa.name(), op, dtype));
            }
        }
    }
}
