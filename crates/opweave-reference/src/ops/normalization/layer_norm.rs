// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Layer normalization.

use opweave_contract::ops::normalization::{LayerNorm, LayerNormProblem};

use super::column;
use crate::{Arguments, Reference, ReferenceError, round};

/// One row: `out = (input - mean) / sqrt(mean((input - mean)^2) + epsilon) * weight + bias`.
pub fn row(
    problem: &LayerNormProblem,
    epsilon: f64,
    input: &[f64],
    weight: Option<&[f64]>,
    bias: Option<&[f64]>,
    out: &mut [f64],
) {
    let n = input.len() as f64;
    let mean = input.iter().sum::<f64>() / n;
    let variance = input.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let divisor = (variance + epsilon).sqrt();
    for (i, out) in out.iter_mut().enumerate() {
        let y = (input[i] - mean) / divisor;
        // Where there is no bias nothing is added: adding zero would change the sign of a zero.
        let y = y * column(weight, i, 1.0);
        *out = round(problem.dtype, bias.map_or(y, |b| y + b[i]));
    }
}

impl Reference for LayerNorm {
    fn reference(problem: &LayerNormProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len())?;
        let (weight, bias) = (arguments.optional("weight", width)?, arguments.optional("bias", width)?);
        let epsilon = arguments.scalar("epsilon")?;
        for (input, out) in input.chunks(width).zip(out.data.chunks_mut(width)) {
            row(problem, epsilon, input, weight, bias, out);
        }
        arguments.put("out", out);
        Ok(())
    }
}
