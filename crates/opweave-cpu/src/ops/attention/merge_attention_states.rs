// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `merge_attention_states` on the CPU.

use opweave_contract::ops::attention::{MergeAttentionStates, MergeAttentionStatesArgs, MergeAttentionStatesProblem};
use opweave_device::cpu::Parallel;
use opweave_tensor::RawTensor;

use super::{activations, logarithms};
use crate::attention::{MergeCall, Side, merge};
use crate::native::Native;
use crate::simd::Isa;

impl Native for MergeAttentionStates {
    unsafe fn run(
        problem: &MergeAttentionStatesProblem,
        args: &MergeAttentionStatesArgs,
        isa: Isa,
        pool: &dyn Parallel,
    ) {
        let side = |values: &RawTensor, lse: &RawTensor| Side { values: activations(values), lse: logarithms(lse) };
        let call = MergeCall {
            parts: [side(&args.v_a, &args.lse_a), side(&args.v_b, &args.lse_b)],
            out: side(&args.out, &args.lse),
            tokens: args.out.dim(0),
            heads: problem.num_heads,
            width: problem.head_dim_v,
            base: problem.lse_base,
            dtype: problem.dtype,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { merge(isa, pool, &call) }
    }
}
