// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm_dynamic_quant` on the CPU.

use opweave_contract::ops::normalization::{
    FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantArgs, FusedAddRmsNormDynamicQuantProblem, QuantMode, Sum,
    WeightMultiply,
};
use opweave_contract::ops::quantization::largest_code;
use opweave_device::cpu::Parallel;

use super::{columns_of, rows_of};
use crate::native::Native;
use crate::normalization::{RmsCall, RmsQuantCall, Statistic, rms_norm_dynamic_quant};
use crate::quantization::ScaleRule;
use crate::simd::Isa;

impl Native for FusedAddRmsNormDynamicQuant {
    unsafe fn run(
        problem: &FusedAddRmsNormDynamicQuantProblem,
        args: &FusedAddRmsNormDynamicQuantArgs,
        isa: Isa,
        pool: &dyn Parallel,
    ) {
        let norm = RmsCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            input: rows_of(&args.input),
            residual: Some(rows_of(&args.residual)),
            out: rows_of(&args.out),
            weight: args.weight.as_ref().map(columns_of),
            weight_plus_one: false,
            statistic: Statistic::RootMeanSquare { eps: f64::from(args.epsilon) },
            round_normalised: problem.weight_multiply == WeightMultiply::AfterRounding,
            round_sum: problem.sum == Sum::Rounded,
        };
        let rule = ScaleRule {
            largest_code: largest_code(problem.output_dtype),
            floor: args.scale_floor,
            format: problem.scale_format,
        };
        let call = RmsQuantCall {
            norm,
            unrounded: problem.mode == QuantMode::F32,
            codes: problem.output_dtype,
            scale: args.scale.data(),
            rule,
            i8_range: problem.i8_range,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rms_norm_dynamic_quant(isa, pool, &call) }
    }
}
