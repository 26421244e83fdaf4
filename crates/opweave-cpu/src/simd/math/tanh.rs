// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The hyperbolic tangent.

use super::exp::{expm1_whole, reduce};
use crate::simd::Simd;

/// `tanh 10` is 1 in f32.
const LEAST: f32 = -20.0;

/// `tanh x = -m / (m + 2)` with `m = e^(-2|x|) - 1`, and the sign of `x`. `m` is made without the difference that would cost
/// its places near 0: `2^n (e^r - 1) + (2^n - 1)`, for which `n` must be whole.
#[inline(always)]
pub fn tanh<S: Simd>(s: S, x: S::F32) -> S::F32 {
    let twice = s.mul(s.abs(x), s.splat(-2.0));
    // `max` keeps its second argument where it is NaN.
    let (_, n, r) = reduce(s, s.max(s.splat(LEAST), twice), 0);
    let power = s.power_of_two(n);
    let m = s.fma(power, expm1_whole(s, r), s.sub(power, s.splat(1.0)));
    s.with_sign_of(s.div(m, s.add(m, s.splat(2.0))), x)
}
