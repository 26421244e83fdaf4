// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of query and key heads, and rotary embedding of the result.

use opweave_contract::ops::rotary::{Between, FusedQkNormRope, FusedQkNormRopeProblem, POSITION_OUTSIDE_THE_CACHE};

use super::pair;
use crate::{Arguments, Reference, ReferenceError, round};

/// One head: over its root mean square, times the weight, then its pairs turned by the angles of `cos_sin`.
pub fn row(problem: &FusedQkNormRopeProblem, epsilon: f64, weight: Option<&[f64]>, cos_sin: &[f64], head: &mut [f64]) {
    let mean = head.iter().map(|v| v * v).sum::<f64>() / head.len() as f64;
    let divisor = (mean + epsilon).sqrt();
    for (i, value) in head.iter_mut().enumerate() {
        *value = *value / divisor * weight.map_or(1.0, |w| w[i]);
        if problem.between == Between::Rounded {
            *value = round(problem.dtype, *value);
        }
    }
    let pairs = problem.rotary_dim / 2;
    for p in 0..pairs {
        let (i, j) = pair(problem.style, p, pairs);
        let (cosine, sine, a, b) = (cos_sin[p], cos_sin[pairs + p], head[i], head[j]);
        head[i] = a * cosine - b * sine;
        head[j] = b * cosine + a * sine;
    }
    head.iter_mut().for_each(|value| *value = round(problem.dtype, *value));
}

impl Reference for FusedQkNormRope {
    fn reference(problem: &FusedQkNormRopeProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let (width, queries) = (problem.head_dim, problem.num_heads * problem.head_dim);
        let turned = queries + problem.num_kv_heads * width;
        let mut qkv = arguments.take("qkv")?;
        let positions = arguments.take("positions")?;
        let cache = arguments.take("cos_sin_cache")?;
        let epsilon = arguments.scalar("epsilon")?;
        let weights = [arguments.optional("q_weight", width)?, arguments.optional("k_weight", width)?];
        let mut faults = Vec::new();
        let tokens = qkv.data.chunks_mut(turned + problem.num_value_heads * width);
        for (token, (values, position)) in tokens.zip(&positions.data).enumerate() {
            let Some(cos_sin) = super::row(&cache.data, problem.rotary_dim, *position) else {
                faults.push(token);
                continue;
            };
            let (q, rest) = values.split_at_mut(queries);
            let k = &mut rest[..turned - queries];
            for (heads, weight) in [(q, weights[0]), (k, weights[1])] {
                heads.chunks_mut(width).for_each(|head| row(problem, epsilon, weight, cos_sin, head));
            }
        }
        for token in faults {
            arguments.fault(POSITION_OUTSIDE_THE_CACHE, token)?;
        }
        arguments.put("cos_sin_cache", cache);
        arguments.put("positions", positions);
        arguments.put("qkv", qkv);
        Ok(())
    }
}
