// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The twin of `SoftmaxParams` in `kernels-cuda/include/opweave/softmax_params.cuh`.

use opweave_tensor::{DType, RawTensor};

/// What a kernel of the family is told about one call: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SoftmaxParams {
    pub(crate) input: *const u8,
    pub(crate) out: *mut u8,
    pub(crate) rows: i64,
    pub(crate) width: i64,
    pub(crate) input_stride: i64,
    pub(crate) out_stride: i64,
    pub(crate) first: f32,
    pub(crate) scale: f32,
    pub(crate) inverse: f32,
    pub(crate) flags: u32,
}

const _: () = assert!(size_of::<SoftmaxParams>() == 64);

/// Bits of [`SoftmaxParams::flags`].
pub(crate) const LOGARITHM: u32 = 1 << 0;
const OUT_F32: u32 = 1 << 1;
pub(crate) const VECTOR: u32 = 1 << 2;
pub(crate) const STREAM: u32 = 1 << 3;

impl SoftmaxParams {
    /// A call of `[rows, width]` views.
    #[inline]
    pub(crate) fn new(input: &RawTensor, out: &RawTensor, temperature: f32, logarithm: bool) -> Self {
        let [first, scale, inverse] = factors(temperature);
        let f32_out = if out.dtype() == DType::F32 { OUT_F32 } else { 0 };
        SoftmaxParams {
            input: input.data().cast_const(),
            out: out.data(),
            rows: input.dim(0) as i64,
            width: input.dim(1) as i64,
            input_stride: input.stride(0) as i64,
            out_stride: out.stride(0) as i64,
            first,
            scale,
            inverse,
            flags: f32_out | if logarithm { LOGARITHM } else { 0 },
        }
    }

    /// Whether 16-byte accesses are possible: both pointers aligned, width and strides whole vectors of elements of `bytes`
    /// and of `out_bytes`, of which the latter are not the smaller.
    #[inline]
    pub(crate) fn is_vector(&self, bytes: i64, out_bytes: i64) -> bool {
        let whole = |length: i64, bytes: i64| length & (16 / bytes - 1) == 0;
        (self.input as usize | self.out as usize).is_multiple_of(16)
            && whole(self.width | self.input_stride, bytes)
            && whole(self.out_stride, out_bytes)
    }
}

/// What differences of logits are multiplied by: a power of two, then log2(e) or 1 over the rest of the temperature. The reciprocal
/// of a temperature below the normal range may be infinite.
#[inline]
fn factors(temperature: f32) -> [f32; 3] {
    const COLD: f32 = (1_u64 << 40) as f32;
    let first = if temperature.is_normal() { 1.0 } else { COLD };
    let rest = temperature * first;
    [first, (std::f64::consts::LOG2_E / f64::from(rest)) as f32, 1.0 / rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_finite_and_make_up_the_temperature() {
        let smallest = f32::from_bits(1);
        for temperature in [1.0, 0.13, 70.0, 1e-30, 3e38, f32::MIN_POSITIVE, 1e-42, smallest] {
            let [first, scale, inverse] = factors(temperature);
            assert!(scale.is_finite() && inverse.is_finite() && scale > 0.0 && inverse > 0.0, "{temperature:e}");
            let whole = f64::from(first) * f64::from(inverse) * f64::from(temperature);
            // Large temperatures have reciprocals below the normal range.
            assert!((whole - 1.0).abs() < 1e-6, "{temperature:e}: {whole}");
            assert_eq!(first == 1.0, temperature >= f32::MIN_POSITIVE);
        }
        assert_eq!(factors(1.0)[2], 1.0);
    }
}
