// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A row in blocks: the keys that order its logits, and their weights.

use crate::sampling::argmax::{NAN_LAST, order};
use crate::simd::math::exp;
use crate::simd::{Elem, Simd, SimdOp};

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

/// What is known of a block of elements.
struct Block {
    keys: [u32; BLOCK],
    weights: [f32; BLOCK],
}

/// Finds out about `count` elements from `start` on, of the row's.
struct Fill<'a, S, T> {
    row: &'a Row<S, T>,
    start: usize,
    count: usize,
    block: &'a mut Block,
}

impl<R: Simd, T: Elem> SimdOp for Fill<'_, R, T> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let Fill { row, start, count, block } = self;
        let mut logits = [0.0_f32; BLOCK];
        row.widen(s, start, &mut logits[..count]);
        // Whole vectors: what lies behind the count is computed and not looked at.
        row.weigh(s, &logits, &mut block.weights, count);
        for (key_, logit) in block.keys.iter_mut().zip(&logits[..count]) {
            *key_ = key(*logit);
        }
    }
}

impl<R: Simd, T: Elem> Row<R, T> {
    /// Calls `visit` with the index of each block's first element, its keys and its weights, until it answers true.
    #[inline(always)]
    pub(super) fn for_each_block(&self, mut visit: impl FnMut(usize, &[u32], &[f32]) -> bool) {
        let mut block = Block { keys: [0; BLOCK], weights: [0.0; BLOCK] };
        for start in (0..self.width).step_by(BLOCK) {
            let count = BLOCK.min(self.width - start);
            self.s.run(Fill { row: self, start, count, block: &mut block });
            if visit(start, &block.keys[..count], &block.weights[..count]) {
                return;
            }
        }
    }

    /// The logits from `start` on as f32.
    #[inline(always)]
    fn widen<S: Simd>(&self, s: S, start: usize, out: &mut [f32]) {
        let whole = out.len() - out.len() % S::LANES;
        // SAFETY: `start + out.len()` elements are the row's, by `for_each_block`, and vectors end within `out`.
        unsafe {
            for i in (0..whole).step_by(S::LANES) {
                let v = T::load(s, self.p.add(start + i));
                s.store_f32::<false>(out.as_mut_ptr().add(i), v);
            }
            for (i, logit) in out.iter_mut().enumerate().skip(whole) {
                *logit = self.p.add(start + i).read().to_f64() as f32;
            }
        }
    }

    /// `exp((logit - most) / temperature)`; 0 for NaN. Where the largest is infinite, 1 for infinities and 0 for all else.
    #[inline(always)]
    fn weigh<S: Simd>(&self, s: S, logits: &[f32; BLOCK], weights: &mut [f32; BLOCK], count: usize) {
        if self.most == f32::INFINITY {
            for (weight, logit) in weights.iter_mut().zip(logits) {
                *weight = f32::from(u8::from(*logit == f32::INFINITY));
            }
            return;
        }
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
