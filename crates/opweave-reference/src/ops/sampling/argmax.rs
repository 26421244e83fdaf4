// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The index of the largest element.

use opweave_contract::ops::sampling::{Argmax, ArgmaxProblem, NanOrder};

use crate::{Arguments, Reference, ReferenceError};

/// The smallest index of the largest of `values`.
pub fn row(nan: NanOrder, values: &[f64]) -> usize {
    let above = |a: f64, b: f64| match nan {
        NanOrder::Last => a > b || (b.is_nan() && !a.is_nan()),
        NanOrder::First => a > b || (a.is_nan() && !b.is_nan()),
    };
    let mut best = 0;
    for (index, &value) in values.iter().enumerate() {
        if above(value, values[best]) {
            best = index;
        }
    }
    best
}

impl Reference for Argmax {
    fn reference(problem: &ArgmaxProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let mut out = arguments.take("out")?;
        let logits = arguments.exactly("logits", out.data.len() * problem.vocab_size)?;
        let valid = problem.valid_size.unwrap_or(problem.vocab_size);
        for (out, logits) in out.data.iter_mut().zip(logits.chunks(problem.vocab_size)) {
            *out = row(problem.nan, &logits[..valid]) as f64;
        }
        arguments.put("out", out);
        Ok(())
    }
}
