// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GELU with a hyperbolic tangent in place of the error function.
//!
//! `x / 2 (1 + tanh u)` is `x` times the sigmoid of `2 u`, so the places that the sum loses on the left are never there to lose.

use super::exp::{exp_16, exp_parts};
use super::gate::gate_of;
use super::rare::Rare;
use crate::simd::Simd;

/// `2 sqrt(2 / pi)` in two parts, and the same times 0.044715: `2 u = x (LINEAR + CUBIC x^2)`.
const LINEAR: [f32; 2] = [1.595_769_2, -4.534_068e-8];
const CUBIC: [f32; 2] = [7.135_481_4e-2, 2.398_832_5e-9];

/// Beyond this `e^(2 u)` leaves the domain of [`Simd::scale`]. GELU is taken there for what it is here: on the left 1e-69,
/// which vanishes unless a factor above 1e24 brings it back.
const MOST: f32 = 12.6;
/// Up to here `2 u` is below 87 and `e^(2 u)` a normal number.
pub(super) const USUAL_ARGUMENT: f32 = 9.9;

/// `y * x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`; NaN for `x` = -infinity, as the product says.
#[inline(always)]
pub fn times_gelu_tanh<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    // `min` and `max` keep their second argument where it is NaN.
    let bounded = s.max(s.splat(-MOST), x);
    let a = s.min(s.splat(MOST), s.abs(x));
    // `2 u` with twice the places of f32: the exponential would turn those that are lost into dozens of its own.
    let [square, square_rest] = s.two_product(a, a);
    let [cubic, cubic_rest] = s.two_product(square, s.splat(CUBIC[0]));
    let cubic_rest = s.fma(square_rest, s.splat(CUBIC[0]), s.fma(square, s.splat(CUBIC[1]), cubic_rest));
    let sum = s.add(cubic, s.splat(LINEAR[0]));
    // What the sum lost, whichever is the larger (Knuth).
    let linear = s.sub(sum, cubic);
    let sum_rest = s.add(s.sub(cubic, s.sub(sum, linear)), s.sub(s.splat(LINEAR[0]), linear));
    let sum_rest = s.add(s.add(sum_rest, s.splat(LINEAR[1])), cubic_rest);
    let [twice, twice_rest] = s.two_product(a, sum);
    let twice_rest = s.fma(a, sum_rest, twice_rest);
    let parts = exp_parts(s, s.neg(twice), Some(s.neg(twice_rest)));
    let result = gate_of(s, y, bounded, x, parts);
    // Zero times x brings the NaN of -infinity back; elsewhere -0 is added, which changes nothing.
    s.add(result, s.select_sign(x, s.mul(x, s.splat(0.0)), s.splat(-0.0)))
}

/// [`times_gelu_tanh`] for a result that is rounded to 16 bits at once.
#[inline(always)]
pub fn times_gelu_tanh_16<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    let twice = s.mul(x, s.fma(s.mul(x, x), s.splat(CUBIC[0]), s.splat(LINEAR[0])));
    let result = s.mul(s.div(y, s.add(exp_16::<S, true>(s, twice, -1.0), s.splat(1.0))), x);
    if s.all_below(x, USUAL_ARGUMENT) { result } else { Rare::GeluTanh16.repair(s, y, x, result) }
}
