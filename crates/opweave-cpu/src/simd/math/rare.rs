// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The way for lanes that the short ways cannot do: arguments too large for them, infinite or NaN.

use super::erf::{USUAL_DEVIATIONS, times_gelu};
use super::gate::{USUAL, USUAL_FACTOR, robust_gate, robust_silu};
use super::gelu_tanh::{USUAL_ARGUMENT, times_gelu_tanh};
use crate::simd::element::MAX_LANES;
use crate::simd::{Simd, SimdOp};

/// Whose lanes they are.
#[derive(Clone, Copy)]
pub(super) enum Rare {
    Sigmoid,
    Silu,
    /// [`Rare::Silu`] whose short way does not mind a large factor.
    Silu16,
    Gelu16,
    GeluTanh16,
}

impl Rare {
    /// `result` with the lanes done again that the short way cannot do: lane by lane, so that no result depends on what
    /// shares its vector.
    #[inline(always)]
    pub(super) fn repair<S: Simd>(self, s: S, y: S::F32, z: S::F32, result: S::F32) -> S::F32 {
        unlikely();
        let mut lanes = Lanes { rare: self, y: [0.0; MAX_LANES], z: [0.0; MAX_LANES], result: [0.0; MAX_LANES] };
        // SAFETY: each buffer holds as many elements as the widest vector.
        unsafe {
            s.store_f32::<false>(lanes.y.as_mut_ptr(), y);
            s.store_f32::<false>(lanes.z.as_mut_ptr(), z);
            s.store_f32::<false>(lanes.result.as_mut_ptr(), result);
        }
        // A call through memory: inlined, it would take registers from the loop around.
        let repaired = s.run(lanes);
        // SAFETY: as above.
        unsafe { s.load_f32(repaired.as_ptr()) }
    }

    /// Whether the short way can do it.
    fn usual(self, y: f32, z: f32) -> bool {
        match self {
            Rare::Sigmoid | Rare::Silu16 => z.abs() < USUAL,
            Rare::Silu => z.abs() < USUAL && y.abs() < USUAL_FACTOR,
            Rare::Gelu16 => z.abs() < USUAL_DEVIATIONS,
            Rare::GeluTanh16 => z.abs() < USUAL_ARGUMENT,
        }
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
            let gated = match self.rare {
                Rare::Sigmoid => robust_gate(s, y, s.splat(1.0), z),
                Rare::Silu | Rare::Silu16 => robust_silu(s, y, z),
                Rare::Gelu16 => times_gelu(s, y, z),
                Rare::GeluTanh16 => times_gelu_tanh(s, y, z),
            };
            s.store_f32::<false>(robust.as_mut_ptr(), gated);
        }
        std::array::from_fn(|i| if self.rare.usual(self.y[i], self.z[i]) { self.result[i] } else { robust[i] })
    }
}
