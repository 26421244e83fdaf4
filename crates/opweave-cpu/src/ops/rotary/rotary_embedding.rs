// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rotary_embedding` on the CPU.

use opweave_contract::ops::rotary::{
    Products, RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryStyle,
};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;
use opweave_tensor::RawTensor;

use super::{cos_sin_of, first_fault};
use crate::indices::Indices;
use crate::native::Native;
use crate::rotary::{Heads, RotaryCall, rotate};
use crate::simd::Isa;

impl Native for RotaryEmbedding {
    unsafe fn scan(_: &RotaryEmbeddingProblem, args: &RotaryEmbeddingArgs) -> Option<FaultAt> {
        // SAFETY: the caller's clauses.
        unsafe { first_fault(&args.positions, &args.cos_sin_cache) }
    }

    unsafe fn run(problem: &RotaryEmbeddingProblem, args: &RotaryEmbeddingArgs, isa: Isa, pool: &dyn Parallel) {
        let heads = |view: &RawTensor| Heads {
            data: view.data(),
            count: view.dim(1),
            token_stride: view.stride(0),
            head_stride: view.stride(1),
            norm: None,
        };
        let call = RotaryCall {
            positions: Indices::of(&args.positions),
            heads: [Some(heads(&args.q)), args.k.as_ref().map(heads)],
            head_dim: problem.head_dim,
            rotary_dim: problem.rotary_dim,
            dtype: problem.dtype,
            cache: cos_sin_of(&args.cos_sin_cache),
            interleaved: problem.style == RotaryStyle::Interleaved,
            rounded: problem.products == Products::Rounded,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { rotate(isa, pool, &call) }
    }
}
