// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sigmoid, alone and as a gate.

use super::exp::{exp_negated_16, exp_normal, exp_parts};
use crate::simd::element::MAX_LANES;
use crate::simd::{Simd, SimdOp};

/// Up to here `e^-z` and `e^z` are normal numbers.
const USUAL: f32 = 87.0;
/// A factor below this times 87 does not overflow.
const USUAL_FACTOR: f32 = 1.3e36;

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub fn sigmoid<S: Simd>(s: S, x: S::F32) -> S::F32 {
    times_sigmoid(s, s.splat(1.0), x)
}

/// `y / (1 + e^-z)`.
#[inline(always)]
pub fn times_sigmoid<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(y, s.add(exp_normal(s, s.neg(z)), s.splat(1.0)));
    if s.all_below(z, USUAL) { result } else { Rare { silu: false, bounded_y: false }.repair(s, y, z, result) }
}

/// `y * z / (1 + e^-z)`; NaN for `z` = -infinity, as the quotient says.
#[inline(always)]
pub fn times_silu<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(s.mul(y, z), s.add(exp_normal(s, s.neg(z)), s.splat(1.0)));
    let usual = s.all_below(z, USUAL) && s.all_below(y, USUAL_FACTOR);
    if usual { result } else { Rare { silu: true, bounded_y: true }.repair(s, y, z, result) }
}

/// [`times_sigmoid`] for a result that is rounded to 16 bits at once.
#[inline(always)]
pub fn times_sigmoid_16<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.div(y, s.add(exp_negated_16(s, z), s.splat(1.0)));
    if s.all_below(z, USUAL) { result } else { Rare { silu: false, bounded_y: false }.repair(s, y, z, result) }
}

/// [`times_silu`] for a result that is rounded to 16 bits at once. `y / (1 + e^-z)` may lose places below the normal range of
/// f32, but no more than a hundredth of a place of the smallest number of 16 bits.
#[inline(always)]
pub fn times_silu_16<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    let result = s.mul(s.div(y, s.add(exp_negated_16(s, z), s.splat(1.0))), z);
    if s.all_below(z, USUAL) { result } else { Rare { silu: true, bounded_y: false }.repair(s, y, z, result) }
}

/// The lanes that the short way cannot do: `|z|` or `y` too large, infinite or NaN. Lane by lane, so that no result depends on
/// what shares its vector.
#[derive(Clone, Copy)]
struct Rare {
    silu: bool,
    /// Whether `y` too must have been usual.
    bounded_y: bool,
}

impl Rare {
    #[inline(always)]
    fn repair<S: Simd>(self, s: S, y: S::F32, z: S::F32, result: S::F32) -> S::F32 {
        unlikely();
        let mut lanes = Lanes { rare: self, y: [0.0; MAX_LANES], z: [0.0; MAX_LANES], result: [0.0; MAX_LANES] };
        // SAFETY: each buffer holds as many elements as the widest vector.
        unsafe {
            s.store_f32::<false>(lanes.y.as_mut_ptr(), y);
            s.store_f32::<false>(lanes.z.as_mut_ptr(), z);
            s.store_f32::<false>(lanes.result.as_mut_ptr(), result);
        }
        // Not inlined, which would take registers from the loop around: a call through memory.
        let repaired = s.run(lanes);
        // SAFETY: as above.
        unsafe { s.load_f32(repaired.as_ptr()) }
    }
}

/// Tells the compiler which way a branch rarely goes.
#[cold]
#[inline(never)]
fn unlikely() {}

struct Lanes {
    rare: Rare,
    y: [f32; MAX_LANES],
    z: [f32; MAX_LANES],
    result: [f32; MAX_LANES],
}

impl SimdOp for Lanes {
    type Output = [f32; MAX_LANES];

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> [f32; MAX_LANES] {
        let mut robust = [0.0_f32; MAX_LANES];
        // SAFETY: each buffer holds as many elements as the widest vector.
        unsafe {
            let (y, z) = (s.load_f32(self.y.as_ptr()), s.load_f32(self.z.as_ptr()));
            let gated = if self.rare.silu { robust_silu(s, y, z) } else { robust_gate(s, y, s.splat(1.0), z) };
            s.store_f32::<false>(robust.as_mut_ptr(), gated);
        }
        let usual = |i: usize| self.z[i].abs() < USUAL && (!self.rare.bounded_y || self.y[i].abs() < USUAL_FACTOR);
        std::array::from_fn(|i| if usual(i) { self.result[i] } else { robust[i] })
    }
}

/// Below this, `x e^x` times the largest number is nearer to 0 than to the smallest.
const LEAST_EXPONENT: f32 = -204.0;

/// `y * factor / (1 + e^-z)`, written so that no intermediate overflows or vanishes before the result does: `e = e^-|z|`, then
/// `1 / (1 + e)` or `e / (1 + e)`, and what is left of `e`'s power of two multiplied in last.
#[inline(always)]
fn robust_gate<S: Simd>(s: S, y: S::F32, factor: S::F32, z: S::F32) -> S::F32 {
    let one = s.splat(1.0);
    let (p, n) = exp_parts(s, s.max(s.splat(LEAST_EXPONENT), s.neg(s.abs(z))), None);
    // `scale` takes the floor: only one of the two has a fraction.
    let first = s.max(n, s.splat(-100.0));
    let rest = s.select_sign(z, s.sub(n, first), s.splat(0.0));
    let e = s.scale(p, first);
    let gate = s.div(s.select_sign(z, e, one), s.add(e, one));
    s.scale(s.mul(s.mul(y, gate), factor), rest)
}

#[inline(always)]
fn robust_silu<S: Simd>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    // Far below where the result is zero, a factor that cannot overflow; zero times z brings the NaN back.
    let bounded = s.max(s.splat(2.0 * LEAST_EXPONENT), z);
    // Elsewhere -0 is added, which changes nothing.
    let lost = s.select_sign(z, s.mul(z, s.splat(0.0)), s.splat(-0.0));
    s.add(robust_gate(s, y, bounded, z), lost)
}
