// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A row in blocks: the keys that order its logits, and their weights.

use crate::sampling::argmax::{NAN_LAST, order};
use crate::simd::math::exp;
use crate::simd::{Elem, Simd};

/// Elements of a block: both buffers stay in the first cache.
pub(super) const BLOCK: usize = 512;

/// A row of logits and what they are divided by.
pub(super) struct Row<S, T> {
    pub(super) s: S,
    pub(super) p: *const T,
    pub(super) width: usize,
    /// The largest logit: a number, or infinity.
    pub(super) most: f32,
    /// Above 0.
    pub(super) temperature: f32,
}

/// The place of a logit in their order: both zeros have one, and NaN is below all numbers.
#[inline(always)]
fn key(logit: f32) -> u32 {
    if logit.is_nan() { NAN_LAST } else { order(logit) }
}

impl<S: Simd, T: Elem> Row<S, T> {
    /// Calls `visit` with the index of each block's first element, its keys and its weights, until it answers true.
    #[inline(always)]
    pub(super) fn for_each_block(&self, mut visit: impl FnMut(usize, &[u32], &[f32]) -> bool) {
        let (mut logits, mut keys, mut weights) = ([0.0_f32; BLOCK], [0_u32; BLOCK], [0.0_f32; BLOCK]);
        for start in (0..self.width).step_by(BLOCK) {
            let count = BLOCK.min(self.width - start);
            self.widen(start, &mut logits[..count]);
            // Whole vectors: what lies behind the count is computed and not looked at.
            self.weigh(&logits, &mut weights, count);
            for (key_, logit) in keys.iter_mut().zip(&logits[..count]) {
                *key_ = key(*logit);
            }
            if visit(start, &keys[..count], &weights[..count]) {
                return;
            }
        }
    }

    /// The logits from `start` on as f32.
    #[inline(always)]
    fn widen(&self, start: usize, out: &mut [f32]) {
        let whole = out.len() - out.len() % S::LANES;
        // SAFETY: `start + out.len()` elements are the row's, by `for_each_block`, and vectors end within `out`.
        unsafe {
            for i in (0..whole).step_by(S::LANES) {
                let v = T::load(self.s, self.p.add(start + i));
                self.s.store_f32::<false>(out.as_mut_ptr().add(i), v);
            }
            for (i, logit) in out.iter_mut().enumerate().skip(whole) {
                *logit = self.p.add(start + i).read().to_f64() as f32;
            }
        }
    }

    /// `exp((logit - most) / temperature)`; 0 for NaN. Where the largest is infinite, 1 for infinities and 0 for all else.
    #[inline(always)]
    fn weigh(&self, logits: &[f32; BLOCK], weights: &mut [f32; BLOCK], count: usize) {
        if self.most == f32::INFINITY {
            for (weight, logit) in weights.iter_mut().zip(logits) {
                *weight = f32::from(u8::from(*logit == f32::INFINITY));
            }
            return;
        }
        let s = self.s;
        let (most, temperature) = (s.splat(self.most), s.splat(self.temperature));
        for i in (0..count).step_by(S::LANES) {
            // SAFETY: the buffers hold whole vectors: `BLOCK` is a multiple of every number of lanes.
            unsafe {
                let below = s.div(s.sub(s.load_f32(logits.as_ptr().add(i)), most), temperature);
                // `max` keeps its second argument where one is NaN.
                let below = s.max(below, s.splat(f32::NEG_INFINITY));
                s.store_f32::<false>(weights.as_mut_ptr().add(i), exp(s, below));
            }
        }
    }
}
