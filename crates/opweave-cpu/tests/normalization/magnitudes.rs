// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows at the ends of the number range: squares that overflow or vanish, zeros, infinities, NaN, offsets.

use opweave_contract::ops::normalization::{Gate, GateOrder, L2Form, WeightMultiply};
use opweave_cpu::simd::Isa;
use opweave_tensor::DType;

use crate::config::{Config, DTYPES, Op, operators};
use crate::run::{Call, Places, noise};

fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f64::from(f32::MAX),
        DType::F16 => f64::from(half::f16::MAX),
        _ => f64::from(half::bf16::MAX),
    }
}

/// A call whose input rows are `f(row, column)`, all else noise.
fn call(config: Config, width: usize, rows: usize, f: impl Fn(usize, usize) -> f64) -> Call {
    let mut call = Call::new(config, rows, width, Places::default());
    for row in 0..rows {
        for column in 0..width {
            call.input.set(row, column, f(row, column));
            call.residual.set(row, column, 0.0);
        }
    }
    call
}

/// Magnitudes from the smallest subnormal to the largest number, with and without epsilon.
#[test]
fn no_magnitude_is_too_large_or_too_small() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                let top = largest(dtype);
                for scale in [top, top / 4.0, top.sqrt(), 1e10, 1.0, 1e-10, 1e-19, 1e-23, 1e-30, 1e-37, 1e-42, 1e-44] {
                    if scale > top {
                        continue;
                    }
                    for epsilon in [0.0, 1e-6, 1e-30] {
                        // Rows are never all zero after rounding: that is another test.
                        let value = |row, column| if column == 0 { scale } else { noise(7, row, column) / 4.0 * scale };
                        for width in [9, 100] {
                            let config = Config { epsilon, ..Config::new(op, dtype) };
                            call(config, width, 2, value).check_magnitude(isa, scale);
                        }
                    }
                }
            }
        }
    }
}

impl Call {
    /// As [`Call::check`], unless no element survived the rounding of the input.
    fn check_magnitude(self, isa: Isa, scale: f64) {
        if self.input.row(0).iter().all(|&v| v == 0.0) {
            return;
        }
        if scale >= 1e20 && matches!(self.config.op, Op::Gated(..)) {
            // A gated value may itself overflow f32; the operator has no bound there.
            return;
        }
        self.check(isa);
    }
}

#[test]
fn zero_rows_follow_the_formula() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for epsilon in [0.0, 1e-6] {
                    let config = Config { epsilon, bias: None, ..Config::new(op, dtype) };
                    let mut call = call(config, 37, 2, |row, column| if row == 0 { 0.0 } else { noise(7, 1, column) });
                    let before = call.clone();
                    call.execute(isa);
                    let context = (isa.name(), config);
                    let zero = call.result().row(0);
                    if epsilon == 0.0 {
                        assert!(zero.iter().all(|v| v.is_nan()), "{context:?}: {zero:?}");
                    } else {
                        assert!(zero.iter().all(|&v| v == 0.0), "{context:?}: {zero:?}");
                    }
                    let (expected, _) = before.expected(1);
                    assert!(expected.iter().all(|v| v.is_finite()));
                    assert!(call.result().row(1).iter().all(|v| v.is_finite()), "{context:?}: the row next door");
                }
            }
        }
    }
}

#[test]
fn nan_and_infinity_stay_in_their_row() {
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    for at in [0, 30, 36] {
                        let value = |row, column| match (row, column) {
                            (1, c) if c == at => special,
                            _ => noise(7, row, column),
                        };
                        call(Config::new(op, dtype), 37, 3, value).check(isa);
                    }
                }
            }
        }
    }
}

/// PyTorch's form: a norm below epsilon, far below, and a NaN that `max` must not lose.
#[test]
fn the_least_divisor_of_an_l2_norm() {
    for isa in Isa::available() {
        for dtype in DTYPES {
            for (scale, epsilon) in [(1e-4, 1e-2), (1e-30, 1e-12), (1e-20, 1e-12), (0.0, 1e-12), (f64::NAN, 1e-12)] {
                let config = Config { epsilon, ..Config::new(Op::L2(L2Form::MaxNormEps), dtype) };
                call(config, 50, 2, |row, column| noise(3, row, column) * scale).check(isa);
            }
        }
    }
}

/// Case A41 and its kind: rows far from zero, constant rows, outliers, rows that do not go on as they began.
#[test]
fn layer_norm_of_rows_far_from_zero() {
    for isa in Isa::available() {
        let config = Config { epsilon: 1e-5, weight: None, bias: None, ..Config::new(Op::Layer, DType::F32) };
        for base in [1e4, 1e6] {
            let mut call = call(config, 4, 1, |_, column| base + column as f64);
            call.execute(isa);
            for (actual, expected) in call.result().row(0).iter().zip([-1.341_635, -0.447_212, 0.447_212, 1.341_635]) {
                assert!((actual - expected).abs() < 1e-5, "{} at {base}: {actual}", isa.name());
            }
        }
        for width in [5, 33, 768, 4096] {
            for (name, value) in [
                ("offset", (|r, c| 1e6 + noise(1, r, c)) as fn(usize, usize) -> f64),
                ("narrow", |r, c| 8_388_608.0 + (noise(1, r, c) > 0.0) as u8 as f64),
                ("outlier", |r, c| if c == 0 { 1e4 } else { noise(1, r, c) }),
                ("late outlier", |r, c| if c == 3 { -3e4 } else { noise(1, r, c) }),
                // The provisional centre is that of the first columns, and no good for the others.
                ("step", |r, c| if c < 130 { 1e6 + noise(1, r, c) } else { noise(1, r, c) }),
                ("drift", |r, c| 1e3 * c as f64 + noise(1, r, c)),
            ] {
                let call = call(config, width, 2, value);
                let before = call.clone();
                call.clone().check(isa);
                assert!(before.expected(0).0.iter().any(|v| v.abs() > 0.1), "{name}");
            }
            let mut constant = call(config, width, 1, |_, _| 123_456.7);
            constant.execute(isa);
            assert!(constant.result().row(0).iter().all(|&v| v == 0.0), "{} constant row", isa.name());
        }
    }
}

/// Rounding modes matter at large magnitudes too, where rows are done in f64.
#[test]
fn modes_hold_for_exceptional_rows() {
    for isa in Isa::available() {
        for op in operators().into_iter().filter(|op| !matches!(op, Op::L2(_) | Op::Layer | Op::Gated(..))) {
            for dtype in [DType::F32, DType::BF16] {
                for multiply in [WeightMultiply::F32, WeightMultiply::AfterRounding] {
                    let config = Config { multiply, epsilon: 0.0, ..Config::new(op, dtype) };
                    call(config, 300, 2, |row, column| noise(1, row, column) * 1e30).check(isa);
                }
            }
        }
    }
}

/// A gate that the short way cannot do changes its own column alone: those around it have the bits that they have without it.
#[test]
fn a_large_gate_changes_no_other_column() {
    let (width, at) = (9001, 5003);
    for isa in Isa::available() {
        for dtype in [DType::F16, DType::BF16] {
            for weight in [None, Some(dtype), Some(DType::F32)] {
                for multiply in [WeightMultiply::F32, WeightMultiply::AfterRounding] {
                    let op = Op::Gated(Gate::Silu, GateOrder::NormThenGate, 1);
                    let config = Config { weight, multiply, ..Config::new(op, dtype) };
                    let run = |gate: f64| {
                        let mut call = Call::new(config, 2, width, Places::default());
                        call.z.set(1, at, gate);
                        call.execute(isa);
                        call
                    };
                    let (usual, large) = (run(1.0), run(200.0));
                    for row in 0..2 {
                        let (usual, large) = (usual.result().row(row), large.result().row(row));
                        for (column, (a, b)) in usual.iter().zip(&large).enumerate() {
                            let same = a.to_bits() == b.to_bits();
                            let changed = row == 1 && column == at;
                            assert!(same != changed, "{} {config:?} column {column}: {a} and {b}", isa.name());
                        }
                    }
                    let vanishing = run(-200.0);
                    assert_eq!(vanishing.result().row(1)[at], 0.0, "{} {config:?}", isa.name());
                }
            }
        }
    }
}

/// Parameters of f16 are widened once for a task of many rows, and the one that is added to some with them.
#[test]
fn many_rows_have_the_bits_of_each_alone() {
    let (rows, width) = (12, 37);
    for isa in Isa::available() {
        for op in operators() {
            for dtype in DTYPES {
                for multiply in [WeightMultiply::F32, WeightMultiply::AfterRounding] {
                    let config = Config { multiply, ..Config::new(op, dtype) };
                    let before = Call::new(config, rows, width, Places::default());
                    let mut together = before.clone();
                    together.execute(isa);
                    for row in 0..rows {
                        let mut alone = Call::new(config, 1, width, Places::default());
                        for column in 0..width {
                            alone.input.set(0, column, before.input.row(row)[column]);
                            alone.residual.set(0, column, before.residual.row(row)[column]);
                            alone.z.set(0, column, before.z.row(row)[column]);
                        }
                        alone.execute(isa);
                        let (alone, together) = (alone.result().row(0), together.result().row(row));
                        assert_eq!(alone, together, "{} {config:?} row {row}", isa.name());
                    }
                }
            }
        }
    }
}
