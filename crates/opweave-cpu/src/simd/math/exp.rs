// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The exponential: `x = n ln 2 + r`, and `e^x = 2^n e^r` with a polynomial for `e^r`.
//!
//! `n` is a multiple of `2^-STEP_BITS`: an instruction set that can look up the powers of its fractions makes `r`, and with
//! it the polynomial, shorter.

use std::f32::consts::LOG2_E;

use crate::simd::Simd;

/// The upper part of ln 2: 355 / 512 has so few bits that its product with any `n` is exact.
const LN_2_UPPER: f32 = 355.0 / 512.0;
const LN_2_LOWER: f32 = (std::f64::consts::LN_2 - 355.0 / 512.0) as f32;

/// Below this `e^x` is nearer to 0 than to the smallest number.
const LEAST: f32 = -105.0;
/// From here on `e^x` is infinity in f32; `n` stays in the domain of [`Simd::scale`].
const MOST: f32 = 89.0;

/// `(e^r - 1 - r) / r^2`, the highest power first: the polynomials whose greatest error, in proportion to `e^r`, is least
/// (Remez). For `|r| <= ln 2 / 2` it is 3.1e-9, a twentieth of a unit in the last place; over a sixteenth of that range two
/// coefficients leave 1.7e-9.
const WHOLE: [f32; 5] = [1.381_447_8e-3, 8.368_781e-3, 4.166_839_3e-2, 1.666_652e-1, 4.999_999_4e-1];
const SIXTEENTH: [f32; 2] = [1.666_672e-1, 5.000_165e-1];

/// `2^f - 1` divided by `f`, likewise: below 3e-9 over `|f| <= 1/2` and `|f| <= 1/32`.
const BINARY_WHOLE: [f32; 6] =
    [1.559_508_2e-4, 1.340_679_7e-3, 9.617_691e-3, 5.550_31e-2, 2.402_265_2e-1, 6.931_472_4e-1];
const BINARY_SIXTEENTH: [f32; 3] = [5.550_428_5e-2, 2.402_344_3e-1, std::f32::consts::LN_2];

/// The same for results that are rounded to 16 bits at once: 2e-7 and 4.3e-7.
const SHORT_WHOLE: [f32; 5] = [1.326_472_7e-3, 9.671_513e-3, 5.550_733_6e-2, 2.402_224_2e-1, std::f32::consts::LN_2];
const SHORT_SIXTEENTH: [f32; 2] = [2.402_264_3e-1, 6.931_877e-1];

/// Adding this leaves a multiple of `2^-bits` in the last bits of the sum.
pub const fn shifter(bits: u32) -> f32 {
    1.5 * (1_u32 << (23 - bits)) as f32
}

/// A polynomial by Horner's rule, the highest power first.
#[inline(always)]
pub(super) fn polynomial<S: Simd>(s: S, r: S::F32, coefficients: &[f32]) -> S::F32 {
    let mut p = s.splat(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        p = s.fma(p, r, s.splat(coefficient));
    }
    p
}

/// `x = n ln 2 + r` with `n` a multiple of `2^-bits`: `n + shifter(bits)`, `n`, `r`.
#[inline(always)]
pub(super) fn reduce<S: Simd>(s: S, x: S::F32, bits: u32) -> (S::F32, S::F32, S::F32) {
    let shifter = s.splat(shifter(bits));
    let k = s.fma(x, s.splat(LOG2_E), shifter);
    let n = s.sub(k, shifter);
    // ln 2 in two parts (Cody and Waite): the first difference is exact, fused or not.
    let r = s.fma(n, s.splat(-LN_2_UPPER), x);
    (k, n, s.fma(n, s.splat(-LN_2_LOWER), r))
}

/// `e^r - 1` for `|r| <= ln 2 / 2`, right in its last places near 0 too.
#[inline(always)]
pub(super) fn expm1_whole<S: Simd>(s: S, r: S::F32) -> S::F32 {
    s.fma(s.mul(r, r), polynomial(s, r, &WHOLE), r)
}

/// `e^r - 1` for `r` as [`reduce`] leaves it with `STEP_BITS`.
#[inline(always)]
fn expm1_step<S: Simd>(s: S, r: S::F32) -> S::F32 {
    if S::STEP_BITS == 0 { expm1_whole(s, r) } else { s.fma(s.mul(r, r), polynomial(s, r, &SIXTEENTH), r) }
}

/// `e^(x + rest)` as `p * 2^floor(n)`: `p` between 0.7 and 2.1. `x` lies in the domain of [`Simd::scale`] divided by
/// log2(e), `rest` is tiny beside 1.
#[inline(always)]
pub(super) fn exp_parts<S: Simd>(s: S, x: S::F32, rest: Option<S::F32>) -> (S::F32, S::F32) {
    let (k, n, r) = reduce(s, x, S::STEP_BITS);
    let r = match rest {
        Some(rest) => s.add(r, rest),
        None => r,
    };
    let e = expm1_step(s, r);
    if S::STEP_BITS == 0 {
        return (s.add(e, s.splat(1.0)), n);
    }
    let fraction = s.step_fraction(k);
    (s.fma(e, fraction, fraction), n)
}

/// `e^x`.
#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::F32) -> S::F32 {
    // `min` and `max` keep their second argument where one is NaN.
    let (p, n) = exp_parts(s, s.max(s.splat(LEAST), s.min(s.splat(MOST), x)), None);
    s.scale(p, n)
}

/// `y e^x` for `x <= 0` and `|y| <= 1`.
#[inline(always)]
pub fn times_exp<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    let (p, n) = exp_parts(s, s.max(s.splat(LEAST), x), None);
    s.scale(s.mul(p, y), n)
}

/// [`times_exp`] for a result that is rounded to 16 bits at once.
#[inline(always)]
pub fn times_exp_16<S: Simd>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    let shifter = s.splat(shifter(S::STEP_BITS));
    let x = s.mul(s.max(s.splat(LEAST), x), s.splat(LOG2_E));
    let k = s.add(x, shifter);
    let n = s.sub(k, shifter);
    let f = s.sub(x, n);
    let p = polynomial(s, f, if S::STEP_BITS == 0 { &SHORT_WHOLE } else { &SHORT_SIXTEENTH });
    // The fraction's power takes the factor along.
    let power = if S::STEP_BITS == 0 { y } else { s.mul(s.step_fraction(k), y) };
    s.scale(s.fma(s.mul(p, f), power, power), n)
}

/// `e^x` where it is a normal number, that is, for `|x| < 87`; anything elsewhere.
#[inline(always)]
pub(super) fn exp_normal<S: Simd>(s: S, x: S::F32) -> S::F32 {
    let (k, _, r) = reduce(s, x, S::STEP_BITS);
    let power = s.step_power(k);
    s.fma(expm1_step(s, r), power, power)
}

/// `e^(factor x)` to `(5 + 1.2 |factor x|) 2^-24` in proportion, where that is below 87, with `SHORT` 12 in place of 5; anything
/// elsewhere.
///
/// In powers of two: the product with log2(e) is rounded once and then taken as it is, which costs up to `|x| 2^-24`.
#[inline(always)]
pub(super) fn exp_16<S: Simd, const SHORT: bool>(s: S, x: S::F32, factor: f32) -> S::F32 {
    let shifter = s.splat(shifter(S::STEP_BITS));
    let x = s.mul(x, s.splat(factor * LOG2_E));
    let k = s.add(x, shifter);
    let f = s.sub(x, s.sub(k, shifter));
    let coefficients: &[f32] = match (SHORT, S::STEP_BITS) {
        (true, 0) => &SHORT_WHOLE,
        (true, _) => &SHORT_SIXTEENTH,
        (false, 0) => &BINARY_WHOLE,
        (false, _) => &BINARY_SIXTEENTH,
    };
    let p = polynomial(s, f, coefficients);
    let power = s.step_power(k);
    s.fma(s.mul(p, f), power, power)
}
