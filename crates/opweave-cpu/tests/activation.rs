// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The gated activations on every input of 16 bits, against an oracle of their own.
//!
//! Tests whose name begins with `odd_` are quick and touch every kind of row end: they are the ones to run under valgrind.

use half::{bf16, f16};
use opweave_cpu::Rows;
use opweave_cpu::activation::{GateFunction, ProductCall, activation_product};
use opweave_cpu::simd::{Elem, Isa, last_level_cache};
use opweave_device::cpu::Serial;

const FUNCTIONS: [GateFunction; 3] = [GateFunction::Silu, GateFunction::Gelu, GateFunction::GeluTanh];

/// `erfc`, by the power series of `erf` near 0 and the continued fraction of Laplace beyond.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.0 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-18 * sum.abs() {
            n += 1.0;
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let tail = (1..200).rev().fold(x, |tail, k| x + f64::from(k) / 2.0 / tail);
    (-x * x).exp() / tail / std::f64::consts::PI.sqrt()
}

fn exact(function: GateFunction, z: f64) -> f64 {
    match function {
        GateFunction::Silu => z / (1.0 + (-z).exp()),
        GateFunction::Gelu => z * erfc(-z / 2_f64.sqrt()) / 2.0,
        GateFunction::GeluTanh => {
            let u = (2.0 / std::f64::consts::PI).sqrt() * (z + 0.044715 * z.powi(3));
            // 1 + tanh u = 2 / (1 + e^(-2 u))
            z / (1.0 + (-2.0 * u).exp())
        }
    }
}

/// Runs a call on rows of `width` that lie without gaps; the last may be short of nothing.
fn run<T: Elem>(isa: Isa, function: GateFunction, round: bool, width: usize, gate: &[T], up: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); gate.len()];
    let rows = |data: *mut T| Rows { data: data.cast(), stride: width as isize };
    let call = ProductCall {
        rows: gate.len() / width,
        width,
        dtype: T::DTYPE,
        gate: rows(gate.as_ptr().cast_mut()),
        up: rows(up.as_ptr().cast_mut()),
        out: rows(out.as_mut_ptr()),
        function,
        round_activation: round,
    };
    // SAFETY: three slices of whole rows, apart from each other; only `out` is written.
    unsafe { activation_product(isa, &Serial, &call) };
    out
}

/// Every bit pattern of a 16-bit dtype, with the spacing of its numbers at a value.
fn every_input<T: Elem>(of_bits: fn(u16) -> T, spacing: impl Fn(f64) -> f64) {
    let gate: Vec<T> = (0..=u16::MAX).map(of_bits).collect();
    let ones = vec![T::from_f64(1.0); gate.len()];
    let factors: Vec<T> = (0..gate.len()).map(|i| T::from_f64([-3.0, 0.71, 1e-3, 250.0][i % 4])).collect();
    for isa in Isa::available() {
        for function in FUNCTIONS {
            let name = format!("{} {} {function:?}", isa.name(), T::DTYPE);
            let results = run(isa, function, false, 256, &gate, &ones);
            let mut exacts = 0;
            for (z, actual) in gate.iter().zip(&results) {
                let (z, actual) = (z.to_f64(), actual.to_f64());
                let expected = exact(function, z);
                if expected.is_nan() || expected.is_infinite() {
                    assert!(actual == expected || actual.is_nan() && expected.is_nan(), "{name}({z:e}) = {actual:e}");
                    exacts += 1;
                    continue;
                }
                let distance = (actual - expected).abs() / spacing(expected);
                assert!(distance <= 0.51, "{name}({z:e}) = {actual:e}, {distance} places from {expected:e}");
                exacts += usize::from(actual == T::from_f64(expected).to_f64());
            }
            // Next to a tie a hundredth of a place decides.
            assert!(exacts >= gate.len() - gate.len() / 200, "{name}: {exacts} of {} are the nearest", gate.len());

            // The rounded activation times the factor, to the last bit.
            let rounded = run(isa, function, true, 256, &gate, &factors);
            for (i, (y, product)) in factors.iter().zip(&rounded).enumerate() {
                let expected = T::from_f64(results[i].to_f64() * y.to_f64()).to_f64();
                let actual = product.to_f64();
                let same = actual == expected || actual.is_nan() && expected.is_nan();
                assert!(
                    same,
                    "{name}({:e}) rounded, times {:e}: {actual:e}, not {expected:e}",
                    gate[i].to_f64(),
                    y.to_f64()
                );
            }
        }
    }
}

/// The distance between numbers with `mantissa` bits after the point, the least exponent being `least`.
fn spacing(mantissa: i32, least: i32) -> impl Fn(f64) -> f64 {
    move |value| {
        let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        2_f64.powi(exponent.max(least) - mantissa)
    }
}

#[test]
fn every_f16_through_every_activation() {
    every_input(f16::from_bits, spacing(10, -14));
}

#[test]
fn every_bf16_through_every_activation() {
    every_input(bf16::from_bits, spacing(7, -126));
}

/// In f32 too the tails, the specials and the middle, a few units in the last place of 2^-23 off at most.
#[test]
fn f32_through_every_activation() {
    let mut gate: Vec<f32> = (0..u32::MAX).step_by(65_521 * 16 + 1).map(f32::from_bits).collect();
    gate.extend((-6000..6000).map(|i| i as f32 * 0.0173));
    gate.resize(gate.len().next_multiple_of(100), 0.5);
    let ones = vec![1.0_f32; gate.len()];
    for isa in Isa::available() {
        for function in FUNCTIONS {
            let results = run(isa, function, false, 100, &gate, &ones);
            for (&z, &actual) in gate.iter().zip(&results) {
                let expected = exact(function, f64::from(z));
                let near = (f64::from(actual) - expected).abs() <= 8.0 * spacing(23, -126)(expected);
                let same = f64::from(actual) == expected || actual.is_nan() && expected.is_nan();
                assert!(near || same, "{} {function:?}({z:e}) = {actual:e}, not {expected:e}", isa.name());
            }
        }
    }
}

/// Slices that end with their allocation, at every width around the vectors: a read or a write past a row's end is past
/// the memory.
#[test]
fn odd_widths_end_where_they_end() {
    fn widths<T: Elem>() {
        for isa in Isa::available() {
            for width in (1..=70).chain([127, 129]) {
                let number = |i: usize| T::from_f64((i * 37 % 101) as f64 / 16.0 - 3.0);
                let gate: Vec<T> = (0..2 * width).map(number).collect();
                let up: Vec<T> = (0..2 * width).map(|i| number(i + 5)).collect();
                let (gate, up) = (gate.into_boxed_slice(), up.into_boxed_slice());
                for round in [false, true] {
                    let out = run(isa, GateFunction::Silu, round, width, &gate, &up);
                    for i in 0..2 * width {
                        let activated = exact(GateFunction::Silu, gate[i].to_f64());
                        let expected = activated * up[i].to_f64();
                        let error = (out[i].to_f64() - expected).abs();
                        assert!(error <= 0.01 * expected.abs() + 1e-9, "{} {width} {i}", isa.name());
                    }
                }
            }
        }
    }
    widths::<f32>();
    widths::<f16>();
    widths::<bf16>();
}

/// An output larger than the last-level cache goes past it, some rows aligned and some not.
#[test]
fn results_past_the_caches_are_the_same() {
    fn large<T: Elem>() {
        let width = 4096 + 13;
        let number = |i: usize| T::from_f64((i * 37 % 1009) as f64 / 128.0 - 4.0);
        let gate: Vec<T> = (0..width).map(number).collect();
        let up: Vec<T> = (0..width).map(|i| number(i + 5)).collect();
        // One row again and again, so that only the output is large.
        let again = |row: &[T]| Rows { data: row.as_ptr().cast_mut().cast(), stride: 0 };
        let rows = last_level_cache() / (width * size_of::<T>()) + 1;
        let mut out = vec![T::default(); rows * width];
        for isa in Isa::available() {
            out.fill(T::default());
            let call = ProductCall {
                rows,
                width,
                dtype: T::DTYPE,
                gate: again(&gate),
                up: again(&up),
                out: Rows { data: out.as_mut_ptr().cast(), stride: width as isize },
                function: GateFunction::Silu,
                round_activation: false,
            };
            // SAFETY: slices of a row and of `rows` rows, apart from each other; only `out` is written.
            unsafe { activation_product(isa, &Serial, &call) };
            let expected = run(isa, GateFunction::Silu, false, width, &gate, &up);
            for (row, out) in out.chunks(width).enumerate() {
                let same = out.iter().zip(&expected).all(|(a, b)| a.to_f64() == b.to_f64());
                assert!(same, "{} {} row {row}", isa.name(), T::DTYPE);
            }
        }
    }
    large::<f32>();
    large::<bf16>();
}
