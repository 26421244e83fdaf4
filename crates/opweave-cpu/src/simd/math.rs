// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Functions of the gates, to about one unit in the last place of f32 and right in both tails.

use super::Simd;

/// The upper part of ln 2: 355 / 512 has so few bits that its product with an exponent is exact.
const LN_2_UPPER: f32 = 355.0 / 512.0;
const LN_2_LOWER: f32 = (std::f64::consts::LN_2 - 355.0 / 512.0) as f32;

/// `e^x` for `x <= 0`; NaN for NaN, 0 for -infinity, subnormal results included.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`, `ln 2` in two parts so that `r` is exact enough (Cody and Waite), the Taylor
/// series of `e^r`, and multiplications by powers of two.
#[inline(always)]
pub(crate) fn exp_nonpositive<S: Simd>(s: S, x: S::F32) -> S::F32 {
    // Below this the result is 0 after rounding (e^-104 < 2^-150); the bound keeps the exponent in range. `max` keeps its
    // second argument where one is NaN.
    let x = s.max(s.splat(-104.0), x);
    let n = s.round(s.mul(x, s.splat(std::f32::consts::LOG2_E)));
    let r = s.fma(n, s.splat(-LN_2_UPPER), x);
    let r = s.fma(n, s.splat(-LN_2_LOWER), r);
    // Seven terms leave less than 0.35^8 / 8! = 6e-9, a tenth of the rounding of f32.
    let mut p = s.splat(1.0 / 5040.0);
    for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        p = s.fma(p, r, s.splat(coefficient));
    }
    // 1 + (r + r^2 p): the small part is summed first.
    let p = s.add(s.splat(1.0), s.fma(s.mul(r, r), p, r));
    s.scale_down(p, n)
}

/// `1 / (1 + e^-x)`, written so that no intermediate overflows: `e = e^-|x|`, then `1 / (1 + e)` or `e / (1 + e)`.
#[inline(always)]
pub(crate) fn sigmoid<S: Simd>(s: S, x: S::F32) -> S::F32 {
    let e = exp_nonpositive(s, s.sub(s.splat(0.0), s.abs(x)));
    let one = s.splat(1.0);
    s.div(s.select_sign(x, e, one), s.add(one, e))
}

/// `x * sigmoid(x)`.
#[inline(always)]
pub(crate) fn silu<S: Simd>(s: S, x: S::F32) -> S::F32 {
    s.mul(x, sigmoid(s, x))
}
