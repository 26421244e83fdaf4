// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rotary_embedding` on Ascend NPUs.

use opweave_contract::Operator;
use opweave_contract::ops::rotary::{
    Products, RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryStyle,
};
use opweave_device::{StreamRef, operation_code};
use opweave_tensor::DType;

use super::steps::Steps;
use crate::native::Native;

/// The twin of `RotaryTiling` in `kernels-npu/include/opweave/rotary_tiling.h`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RotaryTiling {
    tokens: i64,
    max_position: i64,
    cache_stride: i64,
    q_token_stride: i64,
    q_head_stride: i64,
    k_token_stride: i64,
    k_head_stride: i64,
    q_heads: u32,
    k_heads: u32,
    rotary_dim: u32,
    pairs: u32,
    q_step: u32,
    k_step: u32,
    operation: u32,
    flags: u32,
}

const _: () = assert!(size_of::<RotaryTiling>() == 88);

const INTERLEAVED: u32 = 1 << 0;
const CACHE_F32: u32 = 1 << 1;
const POSITIONS_I32: u32 = 1 << 2;
const ROUND_PRODUCTS: u32 = 1 << 3;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    positions: *const u8,
    q: *mut u8,
    k: *mut u8,
    cache: *const u8,
    faults: *mut u8,
    tiling: RotaryTiling,
}

/// What is decided of a problem: a tiling whose tensors are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    tiling: RotaryTiling,
    steps: Steps,
    dtype: DType,
}

/// `bit` where `on`.
const fn when(bit: u32, on: bool) -> u32 {
    if on { bit } else { 0 }
}

impl Native for RotaryEmbedding {
    type Tiling = Turn;
    type Call = Call;

    fn dtype(problem: &RotaryEmbeddingProblem) -> DType {
        problem.dtype
    }

    fn tiling(problem: &RotaryEmbeddingProblem) -> Turn {
        let &RotaryEmbeddingProblem { dtype, rotary_dim, num_heads, .. } = problem;
        let interleaved = problem.style == RotaryStyle::Interleaved;
        let keys = if problem.key_dtype.is_some() { problem.num_kv_heads } else { 0 };
        let steps = Steps::new(dtype, rotary_dim, interleaved, num_heads.max(keys));
        let tiling = RotaryTiling {
            tokens: 0,
            max_position: 0,
            cache_stride: 0,
            q_token_stride: 0,
            q_head_stride: 0,
            k_token_stride: 0,
            k_head_stride: 0,
            // At most 2^16, as is the width of a head.
            q_heads: num_heads as u32,
            k_heads: keys as u32,
            rotary_dim: rotary_dim as u32,
            pairs: steps.pairs,
            q_step: 0,
            k_step: 0,
            operation: const { operation_code(RotaryEmbedding::NAME) },
            flags: when(INTERLEAVED, interleaved)
                | when(CACHE_F32, problem.cache_dtype == DType::F32)
                | when(POSITIONS_I32, problem.position_dtype == DType::I32)
                | when(ROUND_PRODUCTS, problem.products == Products::Rounded),
        };
        Turn { tiling, steps, dtype }
    }

    #[inline]
    fn call(turn: &Turn, args: &RotaryEmbeddingArgs, stream: StreamRef<'_>) -> Option<(Call, u64)> {
        let (q, k, cache, positions) = (&args.q, args.k.as_ref(), &args.cos_sin_cache, &args.positions);
        let step = |heads: u32, stride: isize| turn.steps.heads_of(turn.dtype, heads, stride);
        let tiling = RotaryTiling {
            tokens: positions.dim(0) as i64,
            max_position: cache.dim(0) as i64,
            cache_stride: cache.stride(0) as i64,
            q_token_stride: q.stride(0) as i64,
            q_head_stride: q.stride(1) as i64,
            k_token_stride: k.map_or(0, |k| k.stride(0) as i64),
            k_head_stride: k.map_or(0, |k| k.stride(1) as i64),
            q_step: step(turn.tiling.q_heads, q.stride(1)),
            k_step: k.map_or(0, |k| step(turn.tiling.k_heads, k.stride(1))),
            ..turn.tiling
        };
        let call = Call {
            positions: positions.data(),
            q: q.data(),
            k: k.map_or(std::ptr::null_mut(), |k| k.data()),
            cache: cache.data(),
            faults: stream.fault_pointer(),
            tiling,
        };
        let tokens = positions.dim(0) as u64;
        (tokens > 0).then_some((call, tokens))
    }
}
