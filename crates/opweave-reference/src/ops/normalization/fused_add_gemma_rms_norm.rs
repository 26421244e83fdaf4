// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Residual add and root-mean-square normalization of the sum with Gemma's scale.

use opweave_contract::ops::normalization::{FusedAddGemmaRmsNorm, FusedAddGemmaRmsNormProblem, Sum};

use super::{root_mean_square, weigh};
use crate::{Arguments, Reference, ReferenceError, round};

/// One row: `residual += input`, then `out = sum / sqrt(mean(sum^2) + epsilon) * (1 + weight)`, where the sum is what the mode
/// says, rounded or not.
pub fn row(
    problem: &FusedAddGemmaRmsNormProblem,
    epsilon: f64,
    input: &[f64],
    weight: &[f64],
    residual: &mut [f64],
    out: &mut [f64],
) {
    // `out` holds the sum until it is normalised.
    for (i, sum) in out.iter_mut().enumerate() {
        *sum = input[i] + residual[i];
        residual[i] = round(problem.dtype, *sum);
        if problem.sum == Sum::Rounded {
            *sum = residual[i];
        }
    }
    let divisor = root_mean_square(out, epsilon);
    for (i, out) in out.iter_mut().enumerate() {
        let y = weigh(problem.weight_multiply, problem.dtype, *out / divisor, 1.0 + weight[i]);
        *out = round(problem.dtype, y);
    }
}

impl Reference for FusedAddGemmaRmsNorm {
    fn reference(problem: &FusedAddGemmaRmsNormProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let mut residual = arguments.take("residual")?;
        let input = arguments.exactly("input", out.data.len())?;
        let weight = arguments.exactly("weight", width)?;
        let epsilon = arguments.scalar("epsilon")?;
        let rows = input.chunks(width).zip(residual.data.chunks_mut(width)).zip(out.data.chunks_mut(width));
        for ((input, residual), out) in rows {
            row(problem, epsilon, input, weight, residual, out);
        }
        arguments.put("residual", residual);
        arguments.put("out", out);
        Ok(())
    }
}
