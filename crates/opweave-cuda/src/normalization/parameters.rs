// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The twins of the structs in `kernels-cuda/include/opweave/norm_params.cuh` and `norm_quant_params.cuh`.

use opweave_tensor::{DType, RawTensor};

use crate::flags::flags;
use crate::quantization::CodeParams;
use crate::rows::RowCall;

/// What a kernel of the family is told about one call: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NormParams {
    pub(crate) input: *const u8,
    pub(crate) gate: *const u8,
    pub(crate) residual: *mut u8,
    pub(crate) weight: *const u8,
    pub(crate) bias: *const u8,
    pub(crate) out: *mut u8,
    pub(crate) rows: i64,
    pub(crate) width: i64,
    pub(crate) groups: i64,
    pub(crate) input_stride: i64,
    pub(crate) gate_stride: i64,
    pub(crate) residual_stride: i64,
    pub(crate) out_stride: i64,
    pub(crate) epsilon: f32,
    pub(crate) inverse_width: f32,
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

/// What a kernel is told that normalises and quantises.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NormQuantParams {
    /// `out` is of codes.
    pub(crate) norm: NormParams,
    pub(crate) code: CodeParams,
}

const _: () = assert!(size_of::<NormParams>() == 120 && size_of::<NormQuantParams>() == 136);

flags! {
    /// Bits of [`NormParams::flags`].
    Flags
}

impl Flags {
    const WEIGHT_SAME: Flags = Flags(1 << 0);
    const WEIGHT_F32: Flags = Flags(1 << 1);
    const BIAS_SAME: Flags = Flags(1 << 2);
    const BIAS_F32: Flags = Flags(1 << 3);
    pub(crate) const WEIGHT_PLUS_ONE: Flags = Flags(1 << 4);
    pub(crate) const ROUND_NORMALISED: Flags = Flags(1 << 5);
    pub(crate) const ROUND_SUM: Flags = Flags(1 << 6);
    pub(crate) const MAX_NORM_EPS: Flags = Flags(1 << 7);
    pub(crate) const GATE_SIGMOID: Flags = Flags(1 << 8);
    pub(crate) const GATE_THEN_NORM: Flags = Flags(1 << 9);
    pub(crate) const VECTOR: Flags = Flags(1 << 10);
    pub(crate) const PARAMETERS_READY: Flags = Flags(1 << 11);
    pub(crate) const STREAM: Flags = Flags(1 << 12);
    pub(crate) const QUANTISE_UNROUNDED: Flags = Flags(1 << 13);
}

impl NormParams {
    /// A call of `[rows, groups * width]` views that has neither residual nor parameters yet.
    #[inline]
    pub fn new(input: &RawTensor, out: &RawTensor, width: usize, groups: usize, epsilon: f32) -> Self {
        NormParams {
            input: input.data(),
            gate: std::ptr::null(),
            residual: std::ptr::null_mut(),
            weight: std::ptr::null(),
            bias: std::ptr::null(),
            out: out.data(),
            rows: input.dim(0) as i64,
            width: width as i64,
            groups: groups as i64,
            input_stride: input.stride(0) as i64,
            gate_stride: 0,
            residual_stride: 0,
            out_stride: out.stride(0) as i64,
            epsilon,
            inverse_width: (1.0 / width as f64) as f32,
            flags: 0,
            reserved: 0,
        }
    }

    /// The same with a gate.
    #[inline]
    pub(crate) fn gate(mut self, gate: &RawTensor) -> Self {
        (self.gate, self.gate_stride) = (gate.data(), gate.stride(0) as i64);
        self
    }

    /// The same with a residual.
    #[inline]
    pub(crate) fn residual(mut self, residual: &RawTensor) -> Self {
        (self.residual, self.residual_stride) = (residual.data(), residual.stride(0) as i64);
        self
    }

    /// The same with a weight, if there is one.
    #[inline]
    pub fn weight(mut self, weight: Option<&RawTensor>, dtype: DType) -> Self {
        if let Some(weight) = weight {
            self.weight = weight.data();
            self.flags |= if weight.dtype() == dtype { Flags::WEIGHT_SAME.0 } else { Flags::WEIGHT_F32.0 };
        }
        self
    }

    /// The same with a bias, if there is one.
    #[inline]
    pub(crate) fn bias(mut self, bias: Option<&RawTensor>, dtype: DType) -> Self {
        if let Some(bias) = bias {
            self.bias = bias.data();
            self.flags |= if bias.dtype() == dtype { Flags::BIAS_SAME.0 } else { Flags::BIAS_F32.0 };
        }
        self
    }

    /// The same with these flags besides.
    #[inline]
    pub(crate) fn flags(mut self, flags: Flags) -> Self {
        self.flags |= flags.0;
        self
    }

    /// Whether accesses to whole vectors are possible, if the address of `out` allows them.
    #[inline]
    fn is_vector_but_for_out(&self, elements: u64) -> bool {
        let addresses = self.input as usize
            | self.gate as usize
            | self.residual as usize
            | self.weight as usize
            | self.bias as usize;
        let strides = self.width | self.input_stride | self.gate_stride | self.residual_stride | self.out_stride;
        addresses.is_multiple_of(16) && strides & (elements as i64 - 1) == 0
    }
}

impl RowCall for NormParams {
    #[inline]
    fn rows(&self) -> u64 {
        // Sizes of views, which are never negative.
        self.rows.unsigned_abs() * self.groups.unsigned_abs()
    }

    #[inline]
    fn width(&self) -> u64 {
        self.width.unsigned_abs()
    }

    #[inline]
    fn is_vector(&self, elements: u64) -> bool {
        (self.out as usize).is_multiple_of(16) && self.is_vector_but_for_out(elements)
    }

    #[inline]
    fn settle(&mut self, vector: bool, stream: bool, ready: bool) {
        let flags = Flags::VECTOR.when(vector) | Flags::STREAM.when(stream) | Flags::PARAMETERS_READY.when(ready);
        self.flags |= flags.0;
    }
}

impl RowCall for NormQuantParams {
    #[inline]
    fn rows(&self) -> u64 {
        self.norm.rows()
    }

    #[inline]
    fn width(&self) -> u64 {
        self.norm.width()
    }

    /// The codes, and the residual where there is one.
    #[inline]
    fn written(&self, bytes: u64) -> u64 {
        1 + if self.norm.residual.is_null() { 0 } else { bytes }
    }

    #[inline]
    fn is_vector(&self, elements: u64) -> bool {
        (self.norm.out as u64).is_multiple_of(elements) && self.norm.is_vector_but_for_out(elements)
    }

    #[inline]
    fn settle(&mut self, vector: bool, stream: bool, ready: bool) {
        self.norm.settle(vector, stream, ready);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: usize) -> *mut u8 {
        std::ptr::without_provenance_mut(address)
    }

    #[test]
    fn codes_need_less_alignment_than_numbers_and_everything_else_as_much() {
        let (input, residual, weight) = (at(16), at(32), at(48));
        let (gate, bias, out) = (at(0), at(0), at(8));
        let (rows, width, groups) = (3, 64, 1);
        let (input_stride, gate_stride, residual_stride, out_stride) = (72, 0, 64, 64);
        let (epsilon, inverse_width, flags, reserved) = (0.0, 0.0, 0, 0);
        let norm = NormParams {
            input,
            gate,
            residual,
            weight,
            bias,
            out,
            rows,
            width,
            groups,
            input_stride,
            gate_stride,
            residual_stride,
            out_stride,
            epsilon,
            inverse_width,
            flags,
            reserved,
        };
        let code = CodeParams { scale: at(4), floor: 0.0, flags: 0 };
        let call = NormQuantParams { norm, code };
        assert!(call.is_vector(8) && !call.norm.is_vector(8));
        for broken in [
            NormParams { input: at(24), ..norm },
            NormParams { residual: at(40), ..norm },
            NormParams { weight: at(52), ..norm },
            NormParams { out: at(4), ..norm },
            NormParams { width: 60, ..norm },
            NormParams { out_stride: 68, ..norm },
        ] {
            assert!(!NormQuantParams { norm: broken, code }.is_vector(8), "{broken:?}");
        }
    }
}
