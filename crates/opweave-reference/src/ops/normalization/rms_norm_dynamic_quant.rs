// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization, and quantization of the result.

use opweave_contract::ops::normalization::{QuantMode, RmsNormDynamicQuant, RmsNormDynamicQuantProblem};

use super::{column, root_mean_square, weigh};
use crate::ops::quantization::{encode_row, row_scale};
use crate::{Arguments, Reference, ReferenceError, round};

/// One row of values that are normalised: its codes in `out`, its scale as the answer.
pub fn row(
    problem: &RmsNormDynamicQuantProblem,
    epsilon: f64,
    floor: f64,
    values: &[f64],
    weight: Option<&[f64]>,
    out: &mut [f64],
) -> f64 {
    let divisor = root_mean_square(values, epsilon);
    let norm: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let y = weigh(problem.weight_multiply, problem.dtype, value / divisor, column(weight, i, 1.0));
            match problem.mode {
                QuantMode::Composed => round(problem.dtype, y),
                QuantMode::F32 => y,
            }
        })
        .collect();
    let scale = row_scale(&norm, problem.output_dtype, problem.scale_format, floor);
    encode_row(&norm, scale, problem.output_dtype, problem.i8_range, out);
    scale
}

impl Reference for RmsNormDynamicQuant {
    fn reference(problem: &RmsNormDynamicQuantProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let mut scale = arguments.take("scale")?;
        let input = arguments.exactly("input", out.data.len())?;
        let weight = arguments.optional("weight", width)?;
        let (epsilon, floor) = (arguments.scalar("epsilon")?, arguments.scalar("scale_floor")?);
        let rows = input.chunks(width).zip(out.data.chunks_mut(width));
        for ((input, out), scale) in rows.zip(&mut scale.data) {
            *scale = row(problem, epsilon, floor, input, weight, out);
        }
        arguments.put("out", out);
        arguments.put("scale", scale);
        Ok(())
    }
}
