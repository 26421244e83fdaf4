// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gemma_rms_norm` on the CPU.

use opweave_contract::ops::normalization::{GemmaRmsNorm, GemmaRmsNormArgs, GemmaRmsNormProblem, WeightMultiply};
use opweave_device::cpu::Parallel;

use super::{columns_of, rows_of};
use crate::native::Native;
use crate::normalization::{RmsCall, Statistic, rms_norm};
use crate::simd::Isa;

impl Native for GemmaRmsNorm {
    unsafe fn run(problem: &GemmaRmsNormProblem, args: &GemmaRmsNormArgs, isa: Isa, pool: &dyn Parallel) {
        let call = RmsCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            input: rows_of(&args.input),
            residual: None,
            out: rows_of(&args.out),
            weight: Some(columns_of(&args.weight)),
            weight_plus_one: true,
            statistic: Statistic::RootMeanSquare { eps: f64::from(args.epsilon) },
            round_normalised: problem.weight_multiply == WeightMultiply::AfterRounding,
            round_sum: false,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rms_norm(isa, pool, &call) }
    }
}
