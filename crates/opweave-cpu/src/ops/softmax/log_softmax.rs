// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `log_softmax` on the CPU.

use opweave_contract::ops::softmax::{LogSoftmax, LogSoftmaxArgs, LogSoftmaxProblem};
use opweave_device::cpu::Parallel;

use super::rows_of;
use crate::native::Native;
use crate::simd::Isa;
use crate::softmax::{SoftmaxCall, softmax};

impl Native for LogSoftmax {
    unsafe fn run(problem: &LogSoftmaxProblem, args: &LogSoftmaxArgs, isa: Isa, pool: &dyn Parallel) {
        let call = SoftmaxCall {
            rows: args.input.dim(0),
            width: problem.width,
            dtype: problem.dtype,
            out_dtype: problem.out_dtype,
            input: rows_of(&args.input),
            out: rows_of(&args.out),
            temperature: args.temperature,
            logarithm: true,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { softmax(isa, pool, &call) }
    }
}
