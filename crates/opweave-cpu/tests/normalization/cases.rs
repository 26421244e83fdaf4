// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Small inputs that broke other implementations, with the right answers.

use half::bf16;
use opweave_contract::ops::normalization::{Sum, WeightMultiply};
use opweave_cpu::Rows;
use opweave_cpu::normalization::{Columns, RmsCall, Statistic, rms_norm};
use opweave_cpu::simd::Isa;
use opweave_device::cpu::Serial;
use opweave_tensor::DType;

use crate::config::{Config, DTYPES, Op};
use crate::run::{Call, Places};
use crate::tensor::Place;

/// A01: rows of one value each; a write across a row's end, or a mean over padding, shows in the neighbour.
#[test]
fn odd_a01_rows_end_where_they_end() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for width in [769, 513, 1, 768, 776] {
                let config = Config { epsilon: 0.0, weight: Some(dtype), ..Config::new(Op::Rms, dtype) };
                let mut first = None;
                for _ in 0..20 {
                    let mut call = Call::new(config, 7, width, Places::default());
                    for column in 0..width {
                        (0..7).for_each(|row| call.input.set(row, column, row as f64 + 1.0));
                        call.weight.as_mut().unwrap().set(0, column, 1.0);
                    }
                    call.execute(isa);
                    for row in 0..7 {
                        assert!(call.result().row(row).iter().all(|&v| v == 1.0), "{} {dtype} {width}", isa.name());
                    }
                    call.result().assert_intact(&(isa.name(), dtype, width));
                    let bits = call.result().bits();
                    assert!(*first.get_or_insert_with(|| bits.clone()) == bits, "{} {dtype} {width}", isa.name());
                }
            }
        }
    }
}

/// A02: hidden 3584 with a residual, and views that start one element into their buffers.
#[test]
fn a02_misaligned_operands() {
    let off = Place { offset: 1, gap: 0 };
    for isa in Isa::available() {
        Call::new(Config::new(Op::FusedAdd(Sum::Rounded), DType::BF16), 4, 3584, Places::default()).check(isa);
        let places = Places { input: off, weight: off, ..Places::default() };
        Call::new(Config::new(Op::Rms, DType::BF16), 4, 128, places).check(isa);
    }
}

/// A06: the scale `1 + w` keeps the bits that bf16 would lose, and the two orders of rounding differ.
#[test]
fn a06_two_orders_and_a_scale_in_f32() {
    for isa in Isa::available() {
        let ones = |config, weights: [f64; 2]| {
            let mut call = Call::new(config, 1, 2, Places::default());
            for (column, weight) in weights.into_iter().enumerate() {
                call.input.set(0, column, 1.0);
                call.weight.as_mut().unwrap().set(0, column, weight);
            }
            call.execute(isa);
            call.result().row(0)
        };
        // Normalised x is 1, so the result is the scale. In f16 1.00390625 and 16.8125 have names; in bf16 they do not,
        // and the last rounding must be the only one: 16.8125 is a tie, to even 16.75 or 16.875.
        let gemma = |dtype| Config { epsilon: 0.0, weight: Some(dtype), ..Config::new(Op::Gemma, dtype) };
        assert_eq!(ones(gemma(DType::F16), [0.003_906_25, 15.8125]), [1.003_906_25, 16.8125], "{}", isa.name());
        let mut bf16_weight = gemma(DType::F32);
        bf16_weight.weight = Some(DType::F32);
        assert_eq!(ones(bf16_weight, [0.003_906_25, 15.8125]), [1.003_906_25, 16.8125], "{}", isa.name());

        // In bf16 the difference shows after a multiplication: x normalised to 1.5, (1 + w) * 1.5.
        let x = [1.5, (2.0_f64 - 2.25).abs().sqrt()];
        let scale = 1.003_906_25;
        let mut call = Call::new(gemma(DType::BF16), 1, 2, Places::default());
        for (column, x) in x.into_iter().enumerate() {
            call.input.set(0, column, x);
            call.weight.as_mut().unwrap().set(0, column, 0.003_906_25);
        }
        let normalised = {
            let row = call.input.row(0);
            row[0] / ((row[0] * row[0] + row[1] * row[1]) / 2.0).sqrt()
        };
        call.execute(isa);
        let expected = f64::from(bf16::from_f32((normalised * scale) as f32));
        assert_eq!(call.result().get(0, 0), expected, "{}", isa.name());

        // bf16 holds neither 1.0048828 nor its partner, so both come as sums that only the unrounded norm sees.
        let x = 1.004_882_8_f64;
        for (multiply, expected) in [(WeightMultiply::AfterRounding, 1.515_625), (WeightMultiply::F32, 1.507_812_5)] {
            let op = Op::FusedAdd(Sum::Unrounded);
            let config = Config { epsilon: 0.0, weight: Some(DType::BF16), multiply, ..Config::new(op, DType::BF16) };
            let mut call = Call::new(config, 1, 2, Places::default());
            let parts = [[1.0, x - 1.0], [1.0, (2.0 - x * x).sqrt() - 1.0]];
            for (column, [whole, rest]) in parts.into_iter().enumerate() {
                call.input.set(0, column, whole);
                call.residual.set(0, column, rest);
                call.weight.as_mut().unwrap().set(0, column, 1.5);
            }
            call.execute(isa);
            assert_eq!(call.result().get(0, 0), expected, "{} {multiply:?}", isa.name());
        }
    }
}

/// A07: `out` in the input's memory gives the bits of the disjoint call, and the residual is updated in place.
#[test]
fn odd_a07_in_place_equals_apart() {
    for isa in Isa::available() {
        let config = Config { epsilon: 0.0, weight: None, ..Config::new(Op::FusedAdd(Sum::Unrounded), DType::F32) };
        let mut call = Call::new(config, 1, 4, Places::default());
        for column in 0..4 {
            call.input.set(0, column, column as f64 + 1.0);
            call.residual.set(0, column, 1.0);
        }
        let mut in_place = call.clone().in_place();
        call.execute(isa);
        in_place.execute(isa);
        assert_eq!(in_place.result().bits(), call.result().bits());
        assert_eq!(in_place.residual.row(0), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(call.residual.row(0), [2.0, 3.0, 4.0, 5.0]);
        for width in [3, 8, 64, 100, 4096] {
            for op in crate::config::operators() {
                for dtype in DTYPES {
                    let mut apart = Call::new(Config::new(op, dtype), 3, width, Places::default());
                    let mut in_place = apart.clone().in_place();
                    apart.execute(isa);
                    in_place.execute(isa);
                    assert_eq!(in_place.result().bits(), apart.result().bits(), "{} {op:?} {dtype}", isa.name());
                    assert_eq!(in_place.residual.bits(), apart.residual.bits(), "{} {op:?} {dtype}", isa.name());
                }
            }
        }
    }
}

/// A08: two rows more than 2^31 elements apart, in memory that is never touched between them.
#[test]
fn a08_strides_past_2_to_the_31() {
    let (stride, width) = ((1_usize << 31) + 8, 40);
    let mut memory = vec![bf16::ZERO; stride + width];
    let weight = [1.0_f32; 40];
    for isa in Isa::available() {
        for column in 0..width {
            memory[column] = bf16::from_f32(column as f32);
            memory[stride + column] = bf16::from_f32(column as f32 - 20.0);
        }
        let mut out = [bf16::ZERO; 80];
        let mut alone = [bf16::ZERO; 40];
        let mut call = RmsCall {
            rows: 2,
            width,
            dtype: DType::BF16,
            input: Rows { data: memory.as_mut_ptr().cast(), stride: stride as isize },
            residual: None,
            out: Rows { data: out.as_mut_ptr().cast(), stride: width as isize },
            weight: Some(Columns { data: weight.as_ptr().cast(), dtype: DType::F32 }),
            weight_plus_one: false,
            statistic: Statistic::RootMeanSquare { eps: 1e-6 },
            round_normalised: false,
            round_sum: false,
        };
        // SAFETY: two rows of `memory`, two of `out`, the weight; all apart.
        unsafe { rms_norm(isa, &Serial, &call) };
        call.rows = 1;
        call.input.data = memory[stride..].as_mut_ptr().cast();
        call.out.data = alone.as_mut_ptr().cast();
        // SAFETY: the last row of `memory`, and `alone`.
        unsafe { rms_norm(isa, &Serial, &call) };
        assert_eq!(out[width..], alone, "{}", isa.name());
        assert_ne!(out[..width], alone);
    }
}

/// A42: no weight equals a weight of ones, bit for bit.
#[test]
fn a42_an_absent_weight_is_a_weight_of_ones() {
    for isa in Isa::available() {
        for op in crate::config::operators().into_iter().filter(|op| !matches!(op, Op::L2(_) | Op::Gemma)) {
            if matches!(op, Op::FusedAddGemma(_)) {
                continue;
            }
            for dtype in DTYPES {
                for multiply in [WeightMultiply::F32, WeightMultiply::AfterRounding] {
                    let config = Config { multiply, ..Config::new(op, dtype) };
                    let mut with = Call::new(config, 2, 101, Places::default());
                    (0..101).for_each(|column| with.weight.as_mut().unwrap().set(0, column, 1.0));
                    let mut without = with.clone();
                    without.weight = None;
                    with.execute(isa);
                    without.execute(isa);
                    assert_eq!(with.result().bits(), without.result().bits(), "{} {op:?} {dtype}", isa.name());
                }
            }
        }
    }
}
