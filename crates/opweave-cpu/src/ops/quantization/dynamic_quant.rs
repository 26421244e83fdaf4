// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `dynamic_quant` on the CPU.

use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantArgs, DynamicQuantProblem, largest_code};
use opweave_device::cpu::Parallel;

use super::rows_of;
use crate::native::Native;
use crate::quantization::{DynamicCall, ScaleRule, dynamic_quant};
use crate::simd::Isa;

impl Native for DynamicQuant {
    unsafe fn run(problem: &DynamicQuantProblem, args: &DynamicQuantArgs, isa: Isa, pool: &dyn Parallel) {
        let call = DynamicCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            dtype: problem.dtype,
            codes: problem.output_dtype,
            input: rows_of(&args.input),
            out: rows_of(&args.out),
            scale: args.scale.data(),
            rule: ScaleRule {
                largest_code: largest_code(problem.output_dtype),
                floor: args.scale_floor,
                format: problem.scale_format,
            },
            i8_range: problem.i8_range,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { dynamic_quant(isa, pool, &call) }
    }
}
