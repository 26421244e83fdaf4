// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm` on the CPU.

use opweave_contract::ops::normalization::{
    FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem, Sum, WeightMultiply,
};
use opweave_device::cpu::Parallel;

use super::{columns_of, rows_of};
use crate::native::Native;
use crate::normalization::{RmsCall, Statistic, rms_norm};
use crate::simd::Isa;

impl Native for FusedAddRmsNorm {
    unsafe fn run(problem: &FusedAddRmsNormProblem, args: &FusedAddRmsNormArgs, isa: Isa, pool: &dyn Parallel) {
        let call = RmsCall {
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
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rms_norm(isa, pool, &call) }
    }
}
