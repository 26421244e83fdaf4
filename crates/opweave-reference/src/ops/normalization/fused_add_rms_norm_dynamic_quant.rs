// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Residual add, root-mean-square normalization of the sum, and quantization of the result.

use opweave_contract::ops::normalization::{
    FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantProblem, RmsNormDynamicQuantProblem, Sum,
};

use super::rms_norm_dynamic_quant::row;
use crate::{Arguments, Reference, ReferenceError, round};

impl Reference for FusedAddRmsNormDynamicQuant {
    fn reference(
        problem: &FusedAddRmsNormDynamicQuantProblem,
        arguments: &mut Arguments,
    ) -> Result<(), ReferenceError> {
        let width = problem.hidden_size;
        let mut out = arguments.take("out")?;
        let mut scale = arguments.take("scale")?;
        let mut residual = arguments.take("residual")?;
        let input = arguments.exactly("input", out.data.len())?;
        let weight = arguments.optional("weight", width)?;
        let (epsilon, floor) = (arguments.scalar("epsilon")?, arguments.scalar("scale_floor")?);
        let norm = RmsNormDynamicQuantProblem {
            weight_multiply: problem.weight_multiply,
            mode: problem.mode,
            output_dtype: problem.output_dtype,
            i8_range: problem.i8_range,
            scale_format: problem.scale_format,
            ..RmsNormDynamicQuantProblem::new(width, problem.dtype)
        };
        let rows = input.chunks(width).zip(residual.data.chunks_mut(width)).zip(out.data.chunks_mut(width));
        for (((input, residual), out), scale) in rows.zip(&mut scale.data) {
            let mut sums: Vec<f64> = input.iter().zip(&*residual).map(|(a, b)| a + b).collect();
            for (sum, residual) in sums.iter_mut().zip(residual) {
                *residual = round(problem.dtype, *sum);
                if problem.sum == Sum::Rounded {
                    *sum = *residual;
                }
            }
            *scale = row(&norm, epsilon, floor, &sums, weight, out);
        }
        arguments.put("residual", residual);
        arguments.put("out", out);
        arguments.put("scale", scale);
        Ok(())
    }
}
