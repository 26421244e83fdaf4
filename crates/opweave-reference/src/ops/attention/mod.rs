// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The attention family.

mod pages;

opweave_contract::attention_operators!(modules);

use opweave_contract::ops::attention::{LseBase, ScoreScale};

pub use pages::Listed;

/// What becomes of the products of queries and keys.
#[derive(Clone, Copy, Debug)]
pub struct Scores {
    /// What they are multiplied by.
    pub scale: f64,
    /// The bound that they approach.
    pub cap: Option<f64>,
}

impl Scores {
    /// The factor by the rule of the problem, the scalars being `softmax_scale` and `soft_cap`.
    pub fn new(rule: ScoreScale, head_dim: usize, soft_capped: bool, softmax_scale: f64, soft_cap: f64) -> Scores {
        let scale = match rule {
            ScoreScale::RsqrtHeadDim => 1.0 / (head_dim as f64).sqrt(),
            ScoreScale::Given => softmax_scale,
        };
        Scores { scale, cap: soft_capped.then_some(soft_cap) }
    }

    fn of(self, q: &[f64], k: &[f64]) -> f64 {
        let score = q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * self.scale;
        self.cap.map_or(score, |cap| cap * (score / cap).tanh())
    }
}

/// One query of one head: the result in `out`, and the logarithm of the denominator.
///
/// `keys` are those that it sees, each with its value. A denominator without a term, because there is no key or all scores are
/// -infinity, and no sink, is that of an empty row.
pub fn row(scores: Scores, q: &[f64], keys: &[(&[f64], &[f64])], sink: Option<f64>, out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let scores: Vec<f64> = keys.iter().map(|(k, _)| scores.of(q, k)).collect();
    // f64::max drops a NaN, which then stays in its own term.
    let largest = scores.iter().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY && !scores.iter().chain(&sink).any(|s| s.is_nan()) {
        return f64::NEG_INFINITY;
    }
    let terms: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
    let sum = terms.iter().sum::<f64>() + sink.map_or(0.0, |sink| (sink - largest).exp());
    for (term, (_, v)) in terms.iter().zip(keys) {
        out.iter_mut().zip(*v).for_each(|(out, v)| *out += term / sum * v);
    }
    largest + sum.ln()
}

/// A natural logarithm in the base of the problem.
pub fn in_base(base: LseBase, lse: f64) -> f64 {
    match base {
        LseBase::E => lse,
        LseBase::Two => lse / std::f64::consts::LN_2,
    }
}

/// The first key that a query at position `position` sees, of those before `end`.
pub fn first_seen(position: i64, window: Option<usize>) -> usize {
    window.map_or(0, |window| (position + 1 - window as i64).max(0)) as usize
}
