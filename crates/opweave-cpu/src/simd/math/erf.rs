// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The error function, and the GELU that is made of it.

use super::exp::{exp_16, exp_parts, polynomial};
use super::rare::Rare;
use crate::simd::Simd;

/// `erf(x) / x` in powers of `x^2` for `|x| <= 1`, the highest first: the polynomial whose greatest error in proportion, 1.2e-9,
/// is least (Remez).
const NEAR: [f32; 7] = [
    7.853_862e-5,
    -8.010_194e-4,
    5.188_327_7e-3,
    -2.685_381_3e-2,
    1.128_358_54e-1,
    -3.761_262_6e-1,
    std::f32::consts::FRAC_2_SQRT_PI,
];

/// `e^(t^2) erfc(t)` in powers of `1 / (1 + 0.38 t)`, from the ninth down to the first, likewise: 2.0e-8 for `0 <= t <= 10.3`, beyond which
/// `erfc` is zero in f32.
const FAR: [f32; 9] = [
    5.899_992_6e-2,
    -2.624_477e-1,
    3.642_195_2e-1,
    -1.618_870_3e-1,
    2.303_352_4e-1,
    1.385_105_7e-1,
    2.039_445_3e-1,
    2.139_136_3e-1,
    2.144_113_2e-1,
];
const STRETCH: f32 = 0.38;

/// `erf 4` is 1 in f32.
const MOST: f32 = 4.0;
/// Where the exponent of [`complement`] leaves the domain of [`Simd::scale`]. Below it GELU is taken for what it is here, 1e-75,
/// which vanishes unless a factor above 1e30 brings it back.
const MOST_DEVIATIONS: f32 = 18.6;

/// `e^(-scale a^2) g` as `p * 2^floor(n)`, where `g` is [`FAR`] at `1 + stretch a`: `erfc a` for 1 and [`STRETCH`].
///
/// The square has twice the places of f32; the exponential would turn those that are lost into dozens of its own.
#[inline(always)]
fn complement<S: Simd>(s: S, a: S::F32, scale: f32, stretch: f32) -> (S::F32, S::F32) {
    let [square, lost] = s.two_product(a, a);
    let (p, n) = exp_parts(s, s.mul(square, s.splat(-scale)), Some(s.mul(lost, s.splat(-scale))));
    let w = s.div(s.splat(1.0), s.fma(a, s.splat(stretch), s.splat(1.0)));
    (s.mul(p, s.mul(w, polynomial(s, w, &FAR))), n)
}

/// The error function, `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.
#[inline(always)]
pub fn erf<S: Simd>(s: S, x: S::F32) -> S::F32 {
    let one = s.splat(1.0);
    let near = s.mul(x, polynomial(s, s.mul(x, x), &NEAR));
    // `min` keeps its second argument where it is NaN.
    let a = s.min(s.splat(MOST), s.abs(x));
    let (p, n) = complement(s, a, 1.0, STRETCH);
    let far = s.with_sign_of(s.sub(one, s.scale(p, n)), x);
    s.select_sign(s.sub(a, one), near, far)
}

/// `y * x * Phi(x)`, `Phi` being the normal distribution: `(1 + erf(x / sqrt(2))) / 2`. NaN for `x` = -infinity, as the product says.
///
/// Both sides are made of the tail beyond `|x|`: it is the factor itself on the left, where `1 + erf` would have lost its
/// places, and its power of two is multiplied in last.
#[inline(always)]
pub fn times_gelu<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    let a = s.min(s.splat(MOST_DEVIATIONS), s.abs(x));
    let (p, n) = complement(s, a, 0.5, STRETCH * std::f32::consts::FRAC_1_SQRT_2);
    let tail = s.mul(p, s.splat(0.5));
    let factor = s.select_sign(x, tail, s.sub(s.splat(1.0), s.scale(tail, n)));
    let bounded = s.max(s.splat(-MOST_DEVIATIONS), x);
    // In this order a tiny `x` loses nothing before a large `y` has made up for it.
    let product = s.mul(s.mul(y, factor), bounded);
    let result = s.select_sign(x, s.scale(product, n), product);
    // Zero times x brings the NaN of -infinity back; elsewhere -0 is added, which changes nothing.
    s.add(result, s.select_sign(x, s.mul(x, s.splat(0.0)), s.splat(-0.0)))
}

/// Up to here `e^(-x^2 / 2)` is a normal number.
pub(super) const USUAL_DEVIATIONS: f32 = 13.0;

/// [`times_gelu`] for a result that is rounded to 16 bits at once.
#[inline(always)]
pub fn times_gelu_16<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    let one = s.splat(1.0);
    let e = exp_16::<S, false>(s, s.mul(x, x), -0.5);
    let w = s.div(one, s.fma(s.abs(x), s.splat(STRETCH * std::f32::consts::FRAC_1_SQRT_2), one));
    let tail = s.mul(s.mul(e, w), s.mul(polynomial(s, w, &FAR), s.splat(0.5)));
    let result = s.mul(s.mul(y, s.select_sign(x, tail, s.sub(one, tail))), x);
    if s.all_below(x, USUAL_DEVIATIONS) { result } else { Rare::Gelu16.repair(s, y, x, result) }
}
