// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `argmax` on the CPU.

use opweave_contract::ops::sampling::{Argmax, ArgmaxArgs, ArgmaxProblem, NanOrder};
use opweave_device::cpu::Parallel;

use crate::Rows;
use crate::native::Native;
use crate::sampling::{ArgmaxCall, argmax};
use crate::simd::Isa;

impl Native for Argmax {
    unsafe fn run(problem: &ArgmaxProblem, args: &ArgmaxArgs, isa: Isa, pool: &dyn Parallel) {
        let call = ArgmaxCall {
            rows: args.logits.dim(0),
            width: problem.valid_size.unwrap_or(problem.vocab_size),
            dtype: problem.dtype,
            logits: Rows { data: args.logits.data(), stride: args.logits.stride(0) },
            out: args.out.data(),
            index: problem.index_dtype,
            nan_first: problem.nan == NanOrder::First,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { argmax(isa, pool, &call) }
    }
}
