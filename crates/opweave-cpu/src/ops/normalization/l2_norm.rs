// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `l2_norm` on the CPU.

use opweave_contract::ops::normalization::{L2Form, L2Norm, L2NormArgs, L2NormProblem};
use opweave_device::cpu::Parallel;

use super::rows_of;
use crate::native::Native;
use crate::normalization::{RmsCall, Statistic, rms_norm};
use crate::simd::Isa;

impl Native for L2Norm {
    unsafe fn run(problem: &L2NormProblem, args: &L2NormArgs, isa: Isa, pool: &dyn Parallel) {
        let eps = f64::from(args.epsilon);
        let call = RmsCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            input: rows_of(&args.input),
            residual: None,
            out: rows_of(&args.out),
            weight: None,
            weight_plus_one: false,
            statistic: match problem.form {
                L2Form::RsqrtSumEps => Statistic::RootSum { eps },
                L2Form::MaxNormEps => Statistic::LargerOfNorm { eps },
            },
            round_normalised: false,
            round_sum: false,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rms_norm(isa, pool, &call) }
    }
}
