// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family: its tiling, and its launchers.

mod silu_and_mul;

use opweave_contract::ops::activation::ActivationProduct;
use opweave_tensor::{DType, RawTensor};

use crate::tiles::{bytes, tile};

/// The twin of `ActivationTiling` in `kernels-npu/include/opweave/activation_tiling.h`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ActivationTiling {
    rows: i64,
    width: i64,
    gate_stride: i64,
    up_stride: i64,
    out_stride: i64,
    tile: u32,
    flags: u32,
}

const _: () = assert!(size_of::<ActivationTiling>() == 48);

const ROUNDED: u32 = 1 << 0;

/// The arguments of every kernel of the family.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    gate: *const u8,
    up: *const u8,
    out: *mut u8,
    tiling: ActivationTiling,
}

/// What is decided of a problem: a tiling whose tensors are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    tiling: ActivationTiling,
    /// From the gate to the other half, in bytes, where both are in one tensor.
    half: usize,
    /// In a row.
    tiles: u64,
}

impl Product {
    /// Rows of `width` elements of `dtype` in each half.
    fn new(width: usize, dtype: DType, product: ActivationProduct) -> Self {
        let size = bytes(dtype);
        // Of each element: gate, up and result, twice each for what is on its way, and three in f32.
        let tile = tile(width, 3 * 2 * size + 3 * 4);
        let flags = if product == ActivationProduct::RoundedActivation { ROUNDED } else { 0 };
        let (width, half) = (width as i64, width * size as usize);
        let tiling = ActivationTiling { rows: 0, width, gate_stride: 0, up_stride: 0, out_stride: 0, tile, flags };
        Product { tiling, half, tiles: (width as u64).div_ceil(u64::from(tile)) }
    }

    /// A call, and how many tiles there are; none without rows.
    #[inline]
    fn call(&self, input: &RawTensor, up: Option<&RawTensor>, out: &RawTensor) -> Option<(Call, u64)> {
        let gate = input.data().cast_const();
        let (up, up_stride) = match up {
            Some(up) => (up.data().cast_const(), up.stride(0)),
            None => (gate.wrapping_add(self.half), input.stride(0)),
        };
        let tiling = ActivationTiling {
            rows: out.dim(0) as i64,
            gate_stride: input.stride(0) as i64,
            up_stride: up_stride as i64,
            out_stride: out.stride(0) as i64,
            ..self.tiling
        };
        let rows = out.dim(0) as u64;
        (rows > 0).then_some((Call { gate, up, out: out.data(), tiling }, rows.saturating_mul(self.tiles)))
    }
}
