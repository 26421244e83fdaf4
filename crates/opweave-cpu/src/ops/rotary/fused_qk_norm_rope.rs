// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_qk_norm_rope` on the CPU.

use opweave_contract::ops::rotary::{
    Between, FusedQkNormRope, FusedQkNormRopeArgs, FusedQkNormRopeProblem, RotaryStyle,
};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;
use opweave_tensor::RawTensor;

use super::{cos_sin_of, first_fault};
use crate::indices::Indices;
use crate::native::Native;
use crate::normalization::Columns;
use crate::rotary::{HeadNorm, Heads, RotaryCall, rotate};
use crate::simd::Isa;

impl Native for FusedQkNormRope {
    unsafe fn scan(_: &FusedQkNormRopeProblem, args: &FusedQkNormRopeArgs) -> Option<FaultAt> {
        // SAFETY: the caller's clauses.
        unsafe { first_fault(&args.positions, &args.cos_sin_cache) }
    }

    unsafe fn run(problem: &FusedQkNormRopeProblem, args: &FusedQkNormRopeArgs, isa: Isa, pool: &dyn Parallel) {
        let size = problem.dtype.bits() / 8;
        let heads = |first: usize, count: usize, weight: Option<&RawTensor>| Heads {
            data: args.qkv.data().wrapping_add(first * problem.head_dim * size),
            count,
            token_stride: args.qkv.stride(0),
            head_stride: problem.head_dim as isize,
            norm: Some(HeadNorm {
                weight: weight.map(|w| Columns { data: w.data(), dtype: w.dtype() }),
                eps: f64::from(args.epsilon),
                round: problem.between == Between::Rounded,
            }),
        };
        let call = RotaryCall {
            positions: Indices::of(&args.positions),
            heads: [
                Some(heads(0, problem.num_heads, args.q_weight.as_ref())),
                Some(heads(problem.num_heads, problem.num_kv_heads, args.k_weight.as_ref())),
            ],
            head_dim: problem.head_dim,
            rotary_dim: problem.rotary_dim,
            dtype: problem.dtype,
            cache: cos_sin_of(&args.cos_sin_cache),
            interleaved: problem.style == RotaryStyle::Interleaved,
            rounded: false,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs, and the heads
        // are those of the packed rows.
        unsafe { rotate(isa, pool, &call) }
    }
}
