// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Division of rows by their Euclidean norm.

use opweave_contract::ops::normalization::{L2Form, L2Norm, L2NormProblem};

use super::sum_of_squares;
use crate::{Arguments, Reference, ReferenceError, round};

/// One row: `out = input / sqrt(sum(input^2) + epsilon)`, or `out = input / max(norm, epsilon)`.
pub fn row(problem: &L2NormProblem, epsilon: f64, input: &[f64], out: &mut [f64]) {
    let sum = sum_of_squares(input);
    let divisor = match problem.form {
        L2Form::RsqrtSumEps => (sum + epsilon).sqrt(),
        // `f64::max` would lose a NaN.
        L2Form::MaxNormEps if sum.is_nan() => f64::NAN,
        L2Form::MaxNormEps => sum.sqrt().max(epsilon),
    };
    for (i, out) in out.iter_mut().enumerate() {
        *out = round(problem.dtype, input[i] / divisor);
    }
}

impl Reference for L2Norm {
    fn reference(problem: &L2NormProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len())?;
        let epsilon = arguments.scalar("epsilon")?;
        for (input, out) in input.chunks(width).zip(out.data.chunks_mut(width)) {
            row(problem, epsilon, input, out);
        }
        arguments.put("out", out);
        Ok(())
    }
}
