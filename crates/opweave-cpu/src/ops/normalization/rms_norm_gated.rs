// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm_gated` on the CPU.

use opweave_contract::ops::normalization::{
    Gate, GateOrder, RmsNormGated, RmsNormGatedArgs, RmsNormGatedProblem, WeightMultiply,
};
use opweave_device::cpu::Parallel;

use super::{columns_of, rows_of};
use crate::native::Native;
use crate::normalization::{Activation, GatePlace, GatedCall, rms_norm_gated};
use crate::simd::Isa;

impl Native for RmsNormGated {
    unsafe fn run(problem: &RmsNormGatedProblem, args: &RmsNormGatedArgs, isa: Isa, pool: &dyn Parallel) {
        let call = GatedCall {
            rows: args.input.dim(0),
            width: problem.hidden_size,
            groups: problem.groups,
            dtype: problem.dtype,
            input: rows_of(&args.input),
            z: rows_of(&args.z),
            out: rows_of(&args.out),
            weight: args.weight.as_ref().map(columns_of),
            eps: f64::from(args.epsilon),
            activation: match problem.gate {
                Gate::Silu => Activation::Silu,
                Gate::Sigmoid => Activation::Sigmoid,
            },
            place: match problem.order {
                GateOrder::NormThenGate => GatePlace::AfterNorm,
                GateOrder::GateThenNorm => GatePlace::BeforeNorm,
            },
            round_normalised: problem.weight_multiply == WeightMultiply::AfterRounding,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rms_norm_gated(isa, pool, &call) }
    }
}
