// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Functions of the gates, to a few units in the last place of f32 and right in both tails.

use super::Simd;

/// The upper part of ln 2: 355 / 512 has so few bits that its product with an exponent is exact.
const LN_2_UPPER: f32 = 355.0 / 512.0;
const LN_2_LOWER: f32 = (std::f64::consts::LN_2 - 355.0 / 512.0) as f32;

/// Below this, results are zero whatever else multiplies them within reason; the bound keeps powers of two in range.
const LEAST_EXPONENT: f32 = -138.0;

/// `e^x` for `x <= 0` as `p * a * b`: `p` between 0.7 and 1.5, `a` and `b` powers of two, `p * a` in the normal range. Kept
/// apart so that a product with something large loses nothing to a factor below the normal range.
///
/// `x = n ln 2 + r` with `|r| <= ln 2 / 2`, `ln 2` in two parts so that `r` is exact enough (Cody and Waite), and the Taylor
/// series of `e^r`.
#[inline(always)]
pub(super) fn exp_parts<S: Simd>(s: S, x: S::F32) -> (S::F32, S::F32, S::F32) {
    // `max` keeps its second argument where one is NaN.
    let x = s.max(s.splat(LEAST_EXPONENT), x);
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
    let first = s.max(n, s.splat(-100.0));
    (p, s.power_of_two(first), s.power_of_two(s.sub(n, first)))
}

/// `y * factor / (1 + e^-z)`, written so that no intermediate overflows or vanishes before the result does:
/// `e = e^-|z|`, then `1 / (1 + e)` or `e / (1 + e)`.
#[inline(always)]
fn times_gate<S: Simd>(s: S, y: S::F32, factor: S::F32, z: S::F32) -> S::F32 {
    let (p, a, b) = exp_parts(s, s.sub(s.splat(0.0), s.abs(z)));
    let one = s.splat(1.0);
    let (pa, factor_pa) = (s.mul(p, a), s.mul(s.mul(factor, p), a));
    let gate = s.div(s.select_sign(z, factor_pa, factor), s.fma(pa, b, one));
    s.mul(s.mul(y, gate), s.select_sign(z, b, one))
}

/// `y / (1 + e^-z)`.
#[inline(always)]
pub(crate) fn times_sigmoid<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    times_gate(s, y, s.splat(1.0), z)
}

/// `y * z / (1 + e^-z)`; NaN for `z` = -infinity, as the quotient says.
#[inline(always)]
pub(crate) fn times_silu<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    // Far below where the result is zero, a factor that cannot overflow; zero times z brings the NaN back.
    let bounded = s.max(s.splat(-1e4), z);
    // Elsewhere -0 is added, which changes nothing.
    let lost = s.select_sign(z, s.mul(z, s.splat(0.0)), s.splat(-0.0));
    s.add(times_gate(s, y, bounded, z), lost)
}
