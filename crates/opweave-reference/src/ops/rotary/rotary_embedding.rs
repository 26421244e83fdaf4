// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rotary position embedding of queries and keys.

use opweave_contract::ops::rotary::{POSITION_OUTSIDE_THE_CACHE, Products, RotaryEmbedding, RotaryEmbeddingProblem};

use super::pair;
use crate::{Arguments, Reference, ReferenceError, round};

/// One head: turns the pairs of its first `rotary_dim` features by the angles of `cos_sin`.
pub fn row(problem: &RotaryEmbeddingProblem, cos_sin: &[f64], head: &mut [f64]) {
    let pairs = problem.rotary_dim / 2;
    let step = |value: f64| if problem.products == Products::Rounded { round(problem.dtype, value) } else { value };
    for p in 0..pairs {
        let (i, j) = pair(problem.style, p, pairs);
        let (cosine, sine) = (step(cos_sin[p]), step(cos_sin[pairs + p]));
        let (a, b) = (head[i], head[j]);
        head[i] = round(problem.dtype, step(a * cosine) - step(b * sine));
        head[j] = round(problem.dtype, step(b * cosine) + step(a * sine));
    }
}

impl Reference for RotaryEmbedding {
    fn reference(problem: &RotaryEmbeddingProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let positions = arguments.take("positions")?;
        let cache = arguments.take("cos_sin_cache")?;
        for name in ["q", "k"] {
            if arguments.get(name).is_none() {
                continue;
            }
            let mut values = arguments.take(name)?;
            let each = values.data.len().checked_div(positions.data.len()).unwrap_or(1).max(1);
            for (token, position) in values.data.chunks_mut(each).zip(&positions.data) {
                if let Some(cos_sin) = super::row(&cache.data, problem.rotary_dim, *position) {
                    token.chunks_mut(problem.head_dim).for_each(|head| row(problem, cos_sin, head));
                }
            }
            arguments.put(name, values);
        }
        for (token, position) in positions.data.iter().enumerate() {
            if super::row(&cache.data, problem.rotary_dim, *position).is_none() {
                arguments.fault(POSITION_OUTSIDE_THE_CACHE, token)?;
            }
        }
        arguments.put("cos_sin_cache", cache);
        arguments.put("positions", positions);
        Ok(())
    }
}
