// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The twin of `ActivationParams` in `kernels-cuda/include/opweave/activation_params.cuh`.

use opweave_contract::ops::activation::ActivationProduct;
use opweave_tensor::RawTensor;

/// What a kernel of the family is told about one call: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct ActivationParams {
    pub(crate) gate: *const u8,
    pub(crate) up: *const u8,
    pub(crate) out: *mut u8,
    pub(crate) rows: i64,
    pub(crate) width: i64,
    pub(crate) gate_stride: i64,
    pub(crate) up_stride: i64,
    pub(crate) out_stride: i64,
    pub(crate) tiles: u32,
    pub(crate) flags: u32,
}

const _: () = assert!(size_of::<ActivationParams>() == 72);

/// Bits of [`ActivationParams::flags`].
pub(crate) const ROUND_ACTIVATION: u32 = 1 << 0;
/// As above.
pub(crate) const STREAM_OUT: u32 = 1 << 1;

/// What the operators of the family have in common: the views of a call.
pub(crate) struct Halved<'a> {
    /// Gate, and up behind it where there is no tensor for it.
    pub(crate) input: &'a RawTensor,
    /// What multiplies the activation, if it is apart.
    pub(crate) up: Option<&'a RawTensor>,
    pub(crate) out: &'a RawTensor,
    pub(crate) product: ActivationProduct,
}

impl ActivationParams {
    /// A call whose rows have `width` elements of `size` bytes in each half.
    #[inline]
    pub(crate) fn new(call: &Halved<'_>, width: usize, size: usize) -> Self {
        let Halved { input, up, out, product } = *call;
        let gate = input.data().cast_const();
        let (up, up_stride) = match up {
            Some(up) => (up.data().cast_const(), up.stride(0)),
            None => (gate.wrapping_add(width * size), input.stride(0)),
        };
        ActivationParams {
            gate,
            up,
            out: out.data(),
            rows: out.dim(0) as i64,
            width: width as i64,
            gate_stride: input.stride(0) as i64,
            up_stride: up_stride as i64,
            out_stride: out.stride(0) as i64,
            tiles: 1,
            flags: if product == ActivationProduct::RoundedActivation { ROUND_ACTIVATION } else { 0 },
        }
    }

    /// Whether 16-byte accesses are possible: every pointer aligned, width and strides whole vectors of `elements`.
    #[inline]
    pub(crate) fn is_vector(&self, elements: i64) -> bool {
        let addresses = self.gate as usize | self.up as usize | self.out as usize;
        let strides = self.width | self.gate_stride | self.up_stride | self.out_stride;
        addresses.is_multiple_of(16) && strides & (elements - 1) == 0
    }
}
