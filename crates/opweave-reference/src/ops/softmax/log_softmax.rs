// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The logarithm of softmax.

use opweave_contract::ops::softmax::{LogSoftmax, LogSoftmaxProblem};

use super::by_row;
use crate::{Arguments, Reference, ReferenceError};

/// One row: each shifted logit less the logarithm of the sum of all `e^x`.
///
/// The largest logit's `e^0` is left out of the sum, and `ln(1 + rest)` taken: where the rest is below 2^-53, it would be lost.
pub fn row(shifted: &[f64], out: &mut [f64]) {
    let largest = shifted.iter().position(|&x| x == 0.0);
    let others = shifted.iter().enumerate().filter(|&(i, _)| Some(i) != largest);
    let rest: f64 = others.map(|(_, x)| x.exp()).sum();
    for (x, out) in shifted.iter().zip(out) {
        *out = x - rest.ln_1p();
    }
}

impl Reference for LogSoftmax {
    fn reference(problem: &LogSoftmaxProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        by_row(arguments, problem.width, problem.out_dtype, row)
    }
}
