// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization of each row with a scale of its own.

use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantProblem};

use super::{encode_row, row_scale};
use crate::{Arguments, Reference, ReferenceError};

/// One row: its codes in `out`, its scale as the answer.
pub fn row(problem: &DynamicQuantProblem, floor: f64, input: &[f64], out: &mut [f64]) -> f64 {
    let scale = row_scale(input, problem.output_dtype, problem.scale_format, floor);
    encode_row(input, scale, problem.output_dtype, problem.i8_range, out);
    scale
}

impl Reference for DynamicQuant {
    fn reference(problem: &DynamicQuantProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let mut scale = arguments.take("scale")?;
        let input = arguments.exactly("input", out.data.len())?;
        let floor = arguments.scalar("scale_floor")?;
        let rows = input.chunks(width).zip(out.data.chunks_mut(width));
        for ((input, out), scale) in rows.zip(&mut scale.data) {
            *scale = row(problem, floor, input, out);
        }
        arguments.put("out", out);
        arguments.put("scale", scale);
        Ok(())
    }
}
