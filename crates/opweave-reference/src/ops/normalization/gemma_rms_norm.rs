// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization with Gemma's scale.

use opweave_contract::ops::normalization::{GemmaRmsNorm, GemmaRmsNormProblem};

use super::{root_mean_square, weigh};
use crate::{Arguments, Reference, ReferenceError, round};

/// One row: `out = input / sqrt(mean(input^2) + epsilon) * (1 + weight)`.
pub fn row(problem: &GemmaRmsNormProblem, epsilon: f64, input: &[f64], weight: &[f64], out: &mut [f64]) {
    let divisor = root_mean_square(input, epsilon);
    for (i, out) in out.iter_mut().enumerate() {
        let y = weigh(problem.weight_multiply, problem.dtype, input[i] / divisor, 1.0 + weight[i]);
        *out = round(problem.dtype, y);
    }
}

impl Reference for GemmaRmsNorm {
    fn reference(problem: &GemmaRmsNormProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len())?;
        let weight = arguments.exactly("weight", width)?;
        let epsilon = arguments.scalar("epsilon")?;
        for (input, out) in input.chunks(width).zip(out.data.chunks_mut(width)) {
            row(problem, epsilon, input, weight, out);
        }
        arguments.put("out", out);
        Ok(())
    }
}
