// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sigmoid, alone and as a gate.

use super::exp::{exp_16, exp_normal, exp_parts};
use super::rare::Rare;
use crate::simd::{Elem, Simd};

/// Up to here `e^-z` and `e^z` are normal numbers.
pub(super) const USUAL: f32 = 87.0;
/// A factor below this times 87 does not overflow.
pub(super) const USUAL_FACTOR: f32 = 1.3e36;

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid<S: Simd>(s: S, x: S::F32) -> S::F32 {
    times_sigmoid(s, s.splat(1.0), x)
}

/// `y / (1 + e^-z)`.
#[inline(always)]
pub fn times_sigmoid<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(y, s.add(exp_normal(s, s.neg(z)), s.splat(1.0)));
    if s.all_below(z, USUAL) { result } else { Rare::Sigmoid.repair(s, y, z, result) }
}

/// `y * z / (1 + e^-z)`; NaN for `z` = -infinity, as the quotient says.
#[inline(always)]
pub fn times_silu<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(s.mul(y, z), s.add(exp_normal(s, s.neg(z)), s.splat(1.0)));
    let usual = s.all_below(z, USUAL) && s.all_below(y, USUAL_FACTOR);
    if usual { result } else { Rare::Silu.repair(s, y, z, result) }
}

/// [`times_sigmoid`] for a result that is rounded to 16 bits at once.
#[inline(always)]
pub fn times_sigmoid_16<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(y, s.add(exp_16::<S, true>(s, z, -1.0), s.splat(1.0)));
    if s.all_below(z, USUAL) { result } else { Rare::Sigmoid.repair(s, y, z, result) }
}

/// [`times_silu`] for a result that is rounded to 16 bits at once. `y / (1 + e^-z)` may lose places below the normal range of
/// f32, but no more than a hundredth of a place of the smallest number of 16 bits.
#[inline(always)]
pub fn times_silu_16<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = usual_silu_16(s, y, z);
    if s.all_below(z, USUAL) { result } else { Rare::Silu16.repair(s, y, z, result) }
}

/// [`times_silu_16`] of two vectors, where `z` are the elements at `at`: one look at all of them.
///
/// # Safety
/// - `at` is valid for reading twice `S::LANES` elements.
#[inline(always)]
pub unsafe fn times_silu_16_pair<S: Simd, T: Elem>(s: S, y: [S::F32; 2], z: [S::F32; 2], at: *const T) -> [S::F32; 2] {
    let results = [usual_silu_16(s, y[0], z[0]), usual_silu_16(s, y[1], z[1])];
    // SAFETY: the caller's clause.
    if unsafe { T::pair_below(s, at, z, USUAL) } {
        return results;
    }
    [Rare::Silu16.repair(s, y[0], z[0], results[0]), Rare::Silu16.repair(s, y[1], z[1], results[1])]
}

/// What the short way gives.
#[inline(always)]
fn usual_silu_16<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    s.mul(s.div(y, s.add(exp_16::<S, true>(s, z, -1.0), s.splat(1.0))), z)
}

/// Below this, `x e^x` times the largest number is nearer to 0 than to the smallest.
const LEAST_EXPONENT: f32 = -204.0;

/// `y * factor / (1 + e^-z)`, written so that no intermediate overflows or vanishes before the result does.
#[inline(always)]
pub(super) fn robust_gate<S: Simd>(s: S, y: S::F32, factor: S::F32, z: S::F32) -> S::F32 {
    gate_of(s, y, factor, z, exp_parts(s, s.max(s.splat(LEAST_EXPONENT), s.neg(s.abs(z))), None))
}

/// The same from `e^-|z|` as `p * 2^floor(n)` = `e`: `1 / (1 + e)` or, where the sign of `z` is set, `e / (1 + e)`, and what is
/// left of `e`'s power of two multiplied in last.
#[inline(always)]
pub(super) fn gate_of<S: Simd>(s: S, y: S::F32, factor: S::F32, z: S::F32, (p, n): (S::F32, S::F32)) -> S::F32 {
    let one = s.splat(1.0);
    // `scale` takes the floor: only one of the two has a fraction.
    let first = s.max(n, s.splat(-100.0));
    let rest = s.select_sign(z, s.sub(n, first), s.splat(0.0));
    let e = s.scale(p, first);
    let gate = s.div(s.select_sign(z, e, one), s.add(e, one));
    s.scale(s.mul(s.mul(y, gate), factor), rest)
}

#[inline(always)]
pub(super) fn robust_silu<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    // Far below where the result is zero, a factor that cannot overflow; zero times z brings the NaN back.
    let bounded = s.max(s.splat(2.0 * LEAST_EXPONENT), z);
    // Elsewhere -0 is added, which changes nothing.
    let lost = s.select_sign(z, s.mul(z, s.splat(0.0)), s.splat(-0.0));
    s.add(robust_gate(s, y, bounded, z), lost)
}
