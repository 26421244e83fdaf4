// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization with a scale that is known beforehand.

use opweave_contract::ops::quantization::{QuantizePerTensor, QuantizePerTensorProblem};
use opweave_tensor::DType;

use super::{code, divide};
use crate::{Arguments, Reference, ReferenceError};

/// The code of one number.
pub fn element(problem: &QuantizePerTensorProblem, scale: f64, zero_point: Option<f64>, number: f64) -> f64 {
    let quotient = divide(number, scale);
    let value = match (problem.output_dtype, zero_point) {
        (DType::I8, Some(zero_point)) => quotient.round_ties_even() + zero_point,
        _ => quotient,
    };
    code(problem.output_dtype, problem.i8_range, value)
}

impl Reference for QuantizePerTensor {
    fn reference(problem: &QuantizePerTensorProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let mut out = arguments.take("out")?;
        let input = arguments.exactly("input", out.data.len())?;
        let scale = arguments.exactly("scale", 1)?[0];
        let zero_point = arguments.optional("zero_point", 1)?.map(|z| z[0]);
        // A scale or zero point that no quantizer gives makes every code that of NaN.
        let faults = [
            ("scale not finite and positive", scale.is_finite() && scale > 0.0),
            ("zero point outside -128..=127", zero_point.is_none_or(|z| (-128.0..=127.0).contains(&z))),
        ];
        let legal = faults.iter().all(|fault| fault.1);
        let scale = if legal { scale } else { f64::NAN };
        for (out, &number) in out.data.iter_mut().zip(input) {
            *out = element(problem, scale, zero_point, number);
        }
        let rows = out.data.len() / problem.hidden_size;
        arguments.put("out", out);
        if let Some((clause, _)) = faults.iter().find(|fault| !fault.1) {
            // Every row is quantised with it.
            (0..rows).try_for_each(|row| arguments.fault(clause, row))?;
        }
        Ok(())
    }
}
