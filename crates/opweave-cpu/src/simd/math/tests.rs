// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The functions against f64 over the whole range of f32, on every instruction set.

use super::*;
use crate::simd::{Isa, Simd, SimdOp};

/// A function as the kernels call it, in f64, and the greatest distance allowed with a fused multiply-add and without.
#[derive(Clone, Copy, Debug)]
enum Function {
    Exp,
    /// With the other factor.
    TimesExp(f32),
    TimesExp16(f32),
    Sigmoid,
    Tanh,
    Erf,
    /// With the other factor.
    Gelu(f32),
    GeluTanh(f32),
    TimesSigmoid(f32),
    TimesSilu(f32),
    TimesSigmoid16(f32),
    TimesSilu16(f32),
    Gelu16(f32),
    GeluTanh16(f32),
}

impl Function {
    #[inline(always)]
    fn apply<S: Simd>(self, s: S, x: S::F32) -> S::F32 {
        match self {
            Function::Exp => exp(s, x),
            Function::TimesExp(y) => times_exp(s, s.splat(y), x),
            Function::TimesExp16(y) => times_exp_16(s, s.splat(y), x),
            Function::Sigmoid => sigmoid(s, x),
            Function::Tanh => tanh(s, x),
            Function::Erf => erf(s, x),
            Function::Gelu(y) => times_gelu(s, s.splat(y), x),
            Function::GeluTanh(y) => times_gelu_tanh(s, s.splat(y), x),
            Function::Gelu16(y) => times_gelu_16(s, s.splat(y), x),
            Function::GeluTanh16(y) => times_gelu_tanh_16(s, s.splat(y), x),
            Function::TimesSigmoid(y) => times_sigmoid(s, s.splat(y), x),
            Function::TimesSilu(y) => times_silu(s, s.splat(y), x),
            Function::TimesSigmoid16(y) => times_sigmoid_16(s, s.splat(y), x),
            Function::TimesSilu16(y) => times_silu_16(s, s.splat(y), x),
        }
    }

    /// The magnitude of the exponent that the function is made of.
    fn exponent(self, x: f64) -> f64 {
        match self {
            Function::Gelu16(_) => x * x,
            Function::GeluTanh16(_) => (3.3 * x * (1.596 + 0.0714 * x * x)).abs(),
            _ => x.abs(),
        }
    }

    fn exact(self, x: f64) -> f64 {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        match self {
            Function::Exp => x.exp(),
            Function::TimesExp(y) | Function::TimesExp16(y) => f64::from(y) * x.exp(),
            Function::Sigmoid => sigmoid(x),
            Function::Tanh => x.tanh(),
            Function::Erf => libm::erf(x),
            Function::Gelu(y) | Function::Gelu16(y) => {
                f64::from(y) * (x * 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2))
            }
            Function::GeluTanh(y) | Function::GeluTanh16(y) => {
                let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
                f64::from(y) * (x * sigmoid(2.0 * u))
            }
            Function::TimesSigmoid(y) | Function::TimesSigmoid16(y) => f64::from(y) * sigmoid(x),
            Function::TimesSilu(y) | Function::TimesSilu16(y) => f64::from(y) * (x * sigmoid(x)),
        }
    }
}

struct Map<'a>(Function, &'a [f32]);

impl SimdOp for Map<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Vec<f32> {
        let Map(function, samples) = self;
        let mut out = vec![0.0; samples.len()];
        for i in (0..samples.len()).step_by(S::LANES) {
            // SAFETY: the samples fill whole vectors of every instruction set.
            unsafe {
                let v = function.apply(s, s.load_f32(samples.as_ptr().add(i)));
                s.store_f32::<false>(out.as_mut_ptr().add(i), v);
            }
        }
        out
    }
}

/// Both signs of: every power of two with its neighbours and the same at three halves, subnormals, infinities, NaN, where
/// functions change their form, every bit pattern at a prime stride, so that all lower bits occur, and, where most results are
/// neither 0, 1 nor infinity, a finer
/// comb to both sides of 110.
fn samples(stride: usize, comb: i32) -> Vec<f32> {
    let mut samples: Vec<f32> = (0..u32::MAX).step_by(stride).map(f32::from_bits).collect();
    let edges = (0..=255_u32).flat_map(|e| [e << 23, (e << 23) | 1 << 22]);
    let forms = [87.0_f32, 88.72284, 89.0, 103.97208, 104.0, 105.0, 1.0, 4.0, 9.01, 10.0, 18.6].map(f32::to_bits);
    for bits in edges.chain(forms) {
        for near in bits.saturating_sub(2)..=bits + 2 {
            samples.extend([f32::from_bits(near), f32::from_bits(near | 1 << 31)]);
        }
    }
    samples.extend((-comb..comb).map(|i| i as f32 * (110.0 / comb as f32)));
    samples.resize(samples.len().next_multiple_of(16), f32::NAN);
    samples
}

/// Distance in units of the exact value's last place, the smallest subnormal below the normal range; 0 where both are
/// infinite or NaN.
fn ulps(actual: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_nan() || rounded.is_infinite() {
        let same = actual == rounded || actual.is_nan() && rounded.is_nan();
        // Just above the largest number infinity is the rounded result, and the largest number is near.
        let near = actual == f32::MAX.copysign(rounded) && exact.abs() < 3.402_823_8e38;
        return if same {
            0.0
        } else if near {
            1.0
        } else {
            f64::INFINITY
        };
    }
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let unit = f64::powi(2.0, exponent.max(-126) - 23);
    let distance = (f64::from(actual) - exact).abs() / unit;
    // Just below it the result may have been rounded up.
    if actual.is_infinite() && exact.abs() > 3.402_823e38 {
        1.0
    } else if distance.is_nan() {
        f64::INFINITY
    } else {
        distance
    }
}

/// The worst distance of a function from its exact values, and where.
fn worst(isa: Isa, function: Function, samples: &[f32], unit: impl Fn(f32, f64) -> f64) -> (f64, f32, f32) {
    worst_at(isa, function, samples, |actual, _, exact| unit(actual, exact))
}

/// The same with a distance that depends on the argument.
fn worst_at(isa: Isa, function: Function, samples: &[f32], unit: impl Fn(f32, f32, f64) -> f64) -> (f64, f32, f32) {
    let results = isa.run(Map(function, samples));
    let mut worst = (0.0, 0.0, 0.0);
    for (&x, &actual) in samples.iter().zip(&results) {
        let distance = unit(actual, x, function.exact(f64::from(x)));
        if distance > worst.0 {
            worst = (distance, x, actual);
        }
    }
    worst
}

#[test]
fn every_function_keeps_its_bound_over_the_whole_range() {
    let samples = samples(1021, 1_100_000);
    let nonpositive: Vec<f32> = samples.iter().map(|x| -x.abs()).collect();
    let table = [
        (Function::Exp, 1.1),
        (Function::TimesExp(1.0), 1.1),
        (Function::TimesExp(0.37), 2.0),
        (Function::TimesExp(3e-7), 2.0),
        (Function::Sigmoid, 3.1),
        (Function::Tanh, 2.7),
        (Function::Erf, 2.8),
    ];
    for isa in Isa::available() {
        for (function, bound) in table {
            let samples = if matches!(function, Function::TimesExp(_)) { &nonpositive } else { &samples };
            let (distance, x, actual) = worst(isa, function, samples, ulps);
            assert!(distance <= bound, "{} {function:?}({x:e}) = {actual:e}: {distance} ulp", isa.name());
        }
    }
}

/// Down to the last bit above zero, and with factors that would overflow or vanish if the gate were formed apart.
#[test]
fn gates_keep_their_bound_with_every_factor() {
    let samples = samples(8191, 250_000);
    for isa in Isa::available() {
        for y in [1.0_f32, -3.5, 3e10, 1e-30, -2e38, 1e-40] {
            for (function, bound) in [(Function::TimesSigmoid(y), 3.0), (Function::TimesSilu(y), 4.5)] {
                let (distance, x, actual) = worst(isa, function, &samples, ulps);
                assert!(distance <= bound, "{} {function:?}({x:e}) = {actual:e}: {distance} ulp", isa.name());
            }
        }
    }
}

/// Beyond some deviations on the left nothing is left of the GELU in f32; a large factor brings back what little there is.
#[test]
fn gelus_keep_their_bound_with_every_factor() {
    let samples = samples(8191, 250_000);
    for isa in Isa::available() {
        for y in [1.0_f32, -3.5, 3e10, 1e-30, -2e38, 1e-40] {
            // A factor below the normal range is rounded before `x`, up to 14.6, multiplies it.
            let blurred = y.abs() < f32::MIN_POSITIVE;
            let unit = |actual: f32, exact: f64| {
                let least = if blurred { 8.0 * f64::powi(2.0, -149) } else { 0.0 };
                let lost = exact.abs() < 1e-44 * f64::from(y).abs() || (f64::from(actual) - exact).abs() <= least;
                if lost { 0.0 } else { ulps(actual, exact) }
            };
            for function in [Function::Gelu(y), Function::GeluTanh(y)] {
                let (distance, x, actual) = worst(isa, function, &samples, unit);
                assert!(distance <= 8.0, "{} {function:?}({x:e}) = {actual:e}: {distance} ulp", isa.name());
            }
        }
    }
}

/// In proportion, over what is not lost below the normal range of bf16, which is that of f32.
#[test]
fn gates_for_16_bits_are_a_few_thousandths_of_a_place_of_f16_off() {
    let samples = samples(8191, 250_000);
    for isa in Isa::available() {
        for y in [1.0_f32, -3.5, 6e4, 1e-30, -2e38, 1e-38] {
            for function in short(y) {
                // A hundredth of the smallest number of bf16 is nothing either.
                let unit = |actual: f32, x: f32, exact: f64| {
                    let bound = (24.0 + 1.2 * function.exponent(f64::from(x))) * f64::powi(2.0, -24) * exact.abs();
                    let distance = (f64::from(actual) - exact).abs();
                    // So is what lies beyond some deviations of a GELU.
                    let lost = exact.abs() < 1e-44 * f64::from(y).abs();
                    if lost || ulps(actual, exact) <= 4.0 {
                        0.0
                    } else {
                        distance / bound.max(f64::powi(2.0, -133) / 100.0)
                    }
                };
                let (distance, x, actual) = worst_at(isa, function, &samples, unit);
                assert!(distance <= 1.0, "{} {function:?}({x:e}) = {actual:e}: {distance}", isa.name());
            }
        }
    }
}

#[test]
fn exponentials_for_16_bits_are_a_few_thousandths_of_a_place_of_f16_off() {
    let samples: Vec<f32> = samples(8191, 250_000).into_iter().map(|x| -x.abs()).collect();
    for isa in Isa::available() {
        for y in [1.0_f32, 0.37, 3e-7] {
            let function = Function::TimesExp16(y);
            let unit = |actual: f32, x: f32, exact: f64| {
                let bound = (24.0 + 1.2 * f64::from(x.abs())) * f64::powi(2.0, -24) * exact.abs();
                let distance = (f64::from(actual) - exact).abs();
                if ulps(actual, exact) <= 4.0 { 0.0 } else { distance / bound.max(f64::powi(2.0, -149)) }
            };
            let (distance, x, actual) = worst_at(isa, function, &samples, unit);
            assert!(distance <= 1.0, "{} {function:?}({x:e}) = {actual:e}: {distance}", isa.name());
        }
    }
}

/// The functions for 16 bits with a factor.
fn short(y: f32) -> [Function; 4] {
    [Function::TimesSigmoid16(y), Function::TimesSilu16(y), Function::Gelu16(y), Function::GeluTanh16(y)]
}

#[test]
fn limits_and_nan() {
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, -0.0, f32::NAN, -f32::NAN];
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for isa in Isa::available() {
        let run = |function| {
            let mut padded = special.to_vec();
            padded.resize(16, f32::NAN);
            let results = isa.run(Map(function, &padded));
            assert!(results[6..].iter().all(|r| r.is_nan()), "{} {function:?} of NaN", isa.name());
            results[..6].to_vec()
        };
        let infinity = f32::INFINITY;
        assert_eq!(bits(&run(Function::Exp)), bits(&[infinity, 0.0, infinity, 0.0, 1.0, 1.0]), "{}", isa.name());
        assert_eq!(bits(&run(Function::Sigmoid)), bits(&[1.0, 0.0, 1.0, 0.0, 0.5, 0.5]), "{}", isa.name());
        assert_eq!(bits(&run(Function::Tanh)), bits(&[1.0, -1.0, 1.0, -1.0, 0.0, -0.0]), "{}", isa.name());
        assert_eq!(bits(&run(Function::Erf)), bits(&[1.0, -1.0, 1.0, -1.0, 0.0, -0.0]), "{}", isa.name());
        let products = [Function::TimesSilu(1.0), Function::Gelu(1.0), Function::GeluTanh(1.0)];
        for function in products.into_iter().chain(short(1.0).into_iter().skip(1)) {
            let results = run(function);
            assert!(results[1].is_nan(), "{} {function:?} of -infinity: as the product says", isa.name());
            let expected = [infinity, infinity, f32::MAX, -0.0, 0.0, -0.0];
            assert_eq!(results[2..], expected[2..], "{} {function:?}", isa.name());
            assert_eq!(results[0], infinity, "{} {function:?}", isa.name());
        }
    }
}
