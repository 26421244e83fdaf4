// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `silu_and_mul` on the CPU.

use opweave_contract::ops::activation::{ActivationProduct, SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
use opweave_device::cpu::Parallel;

use super::{halves_of, rows_of};
use crate::activation::{GateFunction, ProductCall, activation_product};
use crate::native::Native;
use crate::simd::Isa;

impl Native for SiluAndMul {
    unsafe fn run(problem: &SiluAndMulProblem, args: &SiluAndMulArgs, isa: Isa, pool: &dyn Parallel) {
        let (gate, up) = halves_of(&args.input, args.up.as_ref(), problem.intermediate_size);
        let call = ProductCall {
            rows: args.input.dim(0),
            width: problem.intermediate_size,
            dtype: problem.dtype,
            gate,
            up,
            out: rows_of(&args.out),
            function: GateFunction::Silu,
            round_activation: problem.activation_product == ActivationProduct::RoundedActivation,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { activation_product(isa, pool, &call) }
    }
}
