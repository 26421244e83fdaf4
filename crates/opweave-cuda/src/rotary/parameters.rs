// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The twin of `RotaryParams` in `kernels-cuda/include/opweave/rotary_params.cuh`.

use opweave_device::StreamRef;
use opweave_tensor::{DType, RawTensor};

use crate::flags::flags;

/// What a kernel of the family is told about one call: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct RotaryParams {
    pub(crate) positions: *const u8,
    pub(crate) q: *mut u8,
    pub(crate) k: *mut u8,
    pub(crate) cache: *const u8,
    pub(crate) q_weight: *const u8,
    pub(crate) k_weight: *const u8,
    pub(crate) faults: *mut u8,
    pub(crate) tokens: i64,
    pub(crate) max_position: i64,
    pub(crate) q_token_stride: i64,
    pub(crate) q_head_stride: i64,
    pub(crate) k_token_stride: i64,
    pub(crate) k_head_stride: i64,
    pub(crate) cache_stride: i64,
    pub(crate) q_heads: u32,
    pub(crate) k_heads: u32,
    pub(crate) head_dim: u32,
    pub(crate) rotary_dim: u32,
    pub(crate) parts: u32,
    pub(crate) operation: u32,
    pub(crate) epsilon: f32,
    pub(crate) inverse_width: f32,
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

const _: () = assert!(size_of::<RotaryParams>() == 152);

flags! {
    /// Bits of [`RotaryParams::flags`].
    Flags
}

impl Flags {
    pub(crate) const INTERLEAVED: Flags = Flags(1 << 0);
    const CACHE_F32: Flags = Flags(1 << 1);
    const POSITIONS_I32: Flags = Flags(1 << 2);
    pub(crate) const ROUND_PRODUCTS: Flags = Flags(1 << 3);
    pub(crate) const ROUND_HEAD: Flags = Flags(1 << 4);
    const WEIGHT_SAME: Flags = Flags(1 << 5);
    const WEIGHT_F32: Flags = Flags(1 << 6);
    pub(crate) const VECTOR: Flags = Flags(1 << 7);
}

impl RotaryParams {
    /// A call on tokens at `positions` with the angles of `cache`, that has no heads yet.
    #[inline]
    pub(crate) fn new(positions: &RawTensor, cache: &RawTensor, head_dim: usize, rotary_dim: usize) -> Self {
        let flags = Flags::CACHE_F32.when(cache.dtype() == DType::F32)
            | Flags::POSITIONS_I32.when(positions.dtype() == DType::I32);
        RotaryParams {
            positions: positions.data(),
            q: std::ptr::null_mut(),
            k: std::ptr::null_mut(),
            cache: cache.data(),
            q_weight: std::ptr::null(),
            k_weight: std::ptr::null(),
            faults: std::ptr::null_mut(),
            tokens: positions.dim(0) as i64,
            max_position: cache.dim(0) as i64,
            q_token_stride: 0,
            q_head_stride: 0,
            k_token_stride: 0,
            k_head_stride: 0,
            cache_stride: cache.stride(0) as i64,
            q_heads: 0,
            k_heads: 0,
            // At most 2^16, as are heads.
            head_dim: head_dim as u32,
            rotary_dim: rotary_dim as u32,
            parts: 1,
            operation: 0,
            epsilon: 0.0,
            inverse_width: (1.0 / head_dim as f64) as f32,
            flags: flags.0,
            reserved: 0,
        }
    }

    /// The same with the heads of `[tokens, heads, head_dim]` views.
    #[inline]
    pub(crate) fn heads(mut self, q: &RawTensor, k: Option<&RawTensor>) -> Self {
        (self.q, self.q_heads) = (q.data(), q.dim(1) as u32);
        (self.q_token_stride, self.q_head_stride) = (q.stride(0) as i64, q.stride(1) as i64);
        if let Some(k) = k {
            (self.k, self.k_heads) = (k.data(), k.dim(1) as u32);
            (self.k_token_stride, self.k_head_stride) = (k.stride(0) as i64, k.stride(1) as i64);
        }
        self
    }

    /// The same with the first heads of packed rows: `q_heads`, and `k_heads` behind them.
    #[inline]
    pub(crate) fn packed(mut self, qkv: &RawTensor, q_heads: usize, k_heads: usize) -> Self {
        let width = self.head_dim as usize;
        self.q = qkv.data();
        self.k = qkv.data().wrapping_add(q_heads * width * (qkv.dtype().bits() / 8));
        (self.q_heads, self.k_heads) = (q_heads as u32, k_heads as u32);
        (self.q_token_stride, self.k_token_stride) = (qkv.stride(0) as i64, qkv.stride(0) as i64);
        (self.q_head_stride, self.k_head_stride) = (width as i64, width as i64);
        self
    }

    /// The same with a norm of heads of `dtype`, and its weights if there are any.
    #[inline]
    pub(crate) fn norm(
        mut self,
        epsilon: f32,
        q_weight: Option<&RawTensor>,
        k_weight: Option<&RawTensor>,
        dtype: DType,
    ) -> Self {
        self.epsilon = epsilon;
        if let (Some(q), Some(k)) = (q_weight, k_weight) {
            (self.q_weight, self.k_weight) = (q.data(), k.data());
            self.flags |= if q.dtype() == dtype { Flags::WEIGHT_SAME.0 } else { Flags::WEIGHT_F32.0 };
        }
        self
    }

    /// The same with these flags besides.
    #[inline]
    pub(crate) fn flags(mut self, flags: Flags) -> Self {
        self.flags |= flags.0;
        self
    }

    /// The same with the stream's buffer for faults of `operation`, if it has one.
    #[inline]
    pub(crate) fn faults(mut self, operation: u32, stream: StreamRef<'_>) -> Self {
        (self.operation, self.faults) = (operation, stream.fault_pointer());
        self
    }

    /// Whether addresses and strides allow accesses to vectors of 16 bytes, of `elements` features. Those of the cache's rows
    /// are vectors of its own dtype.
    #[inline]
    pub(crate) fn is_vector(&self, elements: u64) -> bool {
        let addresses =
            self.q as usize | self.k as usize | self.cache as usize | self.q_weight as usize | self.k_weight as usize;
        let strides = self.q_token_stride | self.q_head_stride | self.k_token_stride | self.k_head_stride;
        let of_cache = if self.flags & Flags::CACHE_F32.0 != 0 { 4 } else { elements as i64 };
        addresses.is_multiple_of(16) && strides & (elements as i64 - 1) == 0 && self.cache_stride & (of_cache - 1) == 0
    }
}
