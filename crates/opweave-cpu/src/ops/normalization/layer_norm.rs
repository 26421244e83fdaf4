// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `layer_norm` on the CPU.

use opweave_contract::ops::normalization::{LayerNorm, LayerNormArgs, LayerNormProblem};
use opweave_device::cpu::Parallel;

use super::{columns_of, rows_of};
use crate::native::Native;
use crate::normalization::{LayerCall, layer_norm};
use crate::simd::Isa;

impl Native for LayerNorm {
    unsafe fn run(problem: &LayerNormProblem, args: &LayerNormArgs, isa: Isa, pool: &dyn Parallel) {
        let call = LayerCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            input: rows_of(&args.input),
            out: rows_of(&args.out),
            weight: args.weight.as_ref().map(columns_of),
            bias: args.bias.as_ref().map(columns_of),
            eps: f64::from(args.epsilon),
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { layer_norm(isa, pool, &call) }
    }
}
