// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family: its tiling, and its launchers.

mod fused_add_rms_norm;
mod rms_norm;

use opweave_contract::ops::normalization::WeightMultiply;
use opweave_tensor::{DType, RawTensor};

use crate::tiles::{bytes, tile};

/// The twin of `NormTiling` in `kernels-npu/include/opweave/norm_tiling.h`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NormTiling {
    rows: i64,
    width: i64,
    input_stride: i64,
    residual_stride: i64,
    out_stride: i64,
    tile: u32,
    epsilon: f32,
    inverse_width: f32,
    flags: u32,
}

const _: () = assert!(size_of::<NormTiling>() == 56);

const WEIGHT_SAME: u32 = 1 << 0;
const WEIGHT_F32: u32 = 1 << 1;
const ROUND_NORMALISED: u32 = 1 << 2;
const ROUND_SUM: u32 = 1 << 3;

/// What is decided of a problem: a tiling whose tensors are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm(NormTiling);

impl Norm {
    /// Rows of `width` elements of `dtype`, `added` to a residual or not.
    fn new(width: usize, dtype: DType, weight: Option<DType>, added: bool) -> Self {
        // Of each element: input and output, twice each for what is on its way, three in f32, a share of the
        // partial sums; the residual and its sum the same way; the weight once.
        let streams = if added { 4 } else { 2 };
        let each = streams * 2 * bytes(dtype) + 3 * 4 + 1 + weight.map_or(0, bytes);
        Norm(NormTiling {
            rows: 0,
            width: width as i64,
            input_stride: 0,
            residual_stride: 0,
            out_stride: 0,
            tile: tile(width, each),
            epsilon: 0.0,
            inverse_width: (1.0 / width as f64) as f32,
            flags: weight.map_or(0, |weight| if weight == dtype { WEIGHT_SAME } else { WEIGHT_F32 }),
        })
    }

    fn modes(mut self, multiply: WeightMultiply, rounded_sum: bool) -> Self {
        if multiply == WeightMultiply::AfterRounding {
            self.0.flags |= ROUND_NORMALISED;
        }
        if rounded_sum {
            self.0.flags |= ROUND_SUM;
        }
        self
    }

    /// The tiling of a call.
    #[inline]
    fn of(&self, input: &RawTensor, residual: Option<&RawTensor>, out: &RawTensor, epsilon: f32) -> NormTiling {
        NormTiling {
            rows: input.dim(0) as i64,
            input_stride: input.stride(0) as i64,
            residual_stride: residual.map_or(0, |residual| residual.stride(0) as i64),
            out_stride: out.stride(0) as i64,
            epsilon,
            ..self.0
        }
    }
}

/// The address of a tensor, null where there is none.
fn address(tensor: Option<&RawTensor>) -> *const u8 {
    tensor.map_or(std::ptr::null(), |tensor| tensor.data().cast_const())
}
