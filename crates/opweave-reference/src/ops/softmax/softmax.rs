// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Softmax.

use opweave_contract::ops::softmax::{Softmax, SoftmaxProblem};

use super::by_row;
use crate::{Arguments, Reference, ReferenceError};

/// One row: `e^x` of each shifted logit over the sum of all.
pub fn row(shifted: &[f64], out: &mut [f64]) {
    let sum: f64 = shifted.iter().map(|x| x.exp()).sum();
    for (x, out) in shifted.iter().zip(out) {
        *out = x.exp() / sum;
    }
}

impl Reference for Softmax {
    fn reference(problem: &SoftmaxProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        by_row(arguments, problem.width, problem.out_dtype, row)
    }
}
