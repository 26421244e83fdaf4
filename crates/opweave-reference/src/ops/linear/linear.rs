// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A linear layer.

use opweave_contract::ops::linear::{Linear, LinearProblem};

use super::{activate, dot};
use crate::{Arguments, Reference, ReferenceError, round};

/// One row: `out[n] = activation(sum over k of input[k] * weight[n, k] + bias[n])`.
pub fn row(problem: &LinearProblem, input: &[f64], weight: &[f64], bias: Option<&[f64]>, out: &mut [f64]) {
    for (n, out) in out.iter_mut().enumerate() {
        let weight = &weight[n * problem.in_features..][..problem.in_features];
        let sum = dot(input, weight) + bias.map_or(0.0, |bias| bias[n]);
        *out = round(problem.output_dtype, activate(problem.activation, sum));
    }
}

impl Reference for Linear {
    fn reference(problem: &LinearProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &LinearProblem { in_features, out_features, .. } = problem;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len() / out_features * in_features)?;
        let weight = arguments.exactly("weight", in_features * out_features)?;
        let bias = arguments.optional("bias", out_features)?;
        for (token, out) in out.data.chunks_mut(out_features).enumerate() {
            row(problem, &input[token * in_features..][..in_features], weight, bias, out);
        }
        arguments.put("out", out);
        Ok(())
    }
}
