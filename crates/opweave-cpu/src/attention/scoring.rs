// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What becomes of the products of queries and keys, and what a query sees.

use std::ops::Range;

use opweave_contract::ops::attention::{LseBase, ScoreScale};

use crate::simd::Simd;
use crate::simd::math::tanh;

/// Heads and their features.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Heads of queries.
    pub queries: usize,
    /// Heads of keys.
    pub keys: usize,
    /// Features of a query and of a key: a multiple of every vector.
    pub width: usize,
    /// Features of a value, likewise.
    pub width_v: usize,
}

impl Heads {
    /// Query heads of each head of keys.
    pub fn group(&self) -> usize {
        self.queries / self.keys
    }
}

/// The rules of a problem for its scores.
#[derive(Clone, Copy, Debug)]
pub struct Scoring {
    /// What products are multiplied by.
    pub scale: f32,
    /// The bound that scores approach.
    pub cap: Option<f32>,
    /// How many keys a query sees at most, its own being the last.
    pub window: Option<usize>,
    /// Whether it sees none after its own.
    pub causal: bool,
    /// The base of the logarithms that are wanted.
    pub base: LseBase,
}

impl Scoring {
    /// The scale by its rule.
    pub fn scale(rule: ScoreScale, head_dim: usize, given: f32) -> f32 {
        match rule {
            ScoreScale::RsqrtHeadDim => (1.0 / (head_dim as f64).sqrt()) as f32,
            ScoreScale::Given => given,
        }
    }

    /// What a query sees that has `after` queries of its sequence behind it, of `keys` keys.
    #[inline(always)]
    pub fn seen(&self, keys: usize, after: usize) -> Range<usize> {
        let end = keys.saturating_sub(after);
        let position = keys as i64 - 1 - after as i64;
        let start = self.window.map_or(0, |window| (position + 1).saturating_sub(window as i64).max(0) as usize);
        let end = if self.causal { end } else { keys };
        start.min(end)..end
    }

    /// Scores in place of `n` scaled products, `n` being rounded up to whole vectors.
    ///
    /// # Safety
    /// - `scores` is valid for reading and writing that many.
    #[inline(always)]
    pub unsafe fn cap<S: Simd>(&self, s: S, scores: *mut f32, n: usize) {
        let Some(cap) = self.cap else { return };
        let (cap, mut i) = (s.splat(cap), 0);
        while i < n {
            // SAFETY: the caller's clause.
            unsafe {
                let score = tanh(s, s.div(s.load_f32(scores.add(i)), cap));
                s.store_f32::<false>(scores.add(i), s.mul(cap, score));
            }
            i += S::LANES;
        }
    }
}
