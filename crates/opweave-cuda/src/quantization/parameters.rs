// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The twins of the structs in `kernels-cuda/include/opweave/quant_params.cuh`.

use opweave_contract::ops::quantization::ScaleFormat;
use opweave_device::StreamRef;
use opweave_tensor::{DType, RawTensor};

use crate::flags::flags;
use crate::rows::RowCall;

/// How codes and scales are formed: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct CodeParams {
    pub(crate) scale: *mut u8,
    pub(crate) floor: f32,
    pub(crate) flags: u32,
}

/// What a kernel of the family is told about one call: see the header for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct QuantParams {
    pub(crate) input: *const u8,
    pub(crate) zero_point: *const u8,
    pub(crate) out: *mut u8,
    pub(crate) faults: *mut u8,
    pub(crate) rows: i64,
    pub(crate) width: i64,
    pub(crate) input_stride: i64,
    pub(crate) out_stride: i64,
    pub(crate) code: CodeParams,
    pub(crate) operation: u32,
    pub(crate) flags: u32,
}

const _: () = assert!(size_of::<CodeParams>() == 16 && size_of::<QuantParams>() == 88);

flags! {
    /// Bits of [`CodeParams::flags`].
    CodeFlags
}

impl CodeFlags {
    const F8E4M3: CodeFlags = CodeFlags(1 << 0);
    const F8E5M2: CodeFlags = CodeFlags(1 << 1);
    const LOWEST_128: CodeFlags = CodeFlags(1 << 2);
    const SCALE_POWER_OF_TWO: CodeFlags = CodeFlags(1 << 3);

    /// The flags of codes of `dtype`.
    #[inline]
    pub(crate) fn new(dtype: DType, i8_range: usize, format: ScaleFormat) -> Self {
        let codes = match dtype {
            DType::F8E4M3 => CodeFlags::F8E4M3,
            DType::F8E5M2 => CodeFlags::F8E5M2,
            _ => CodeFlags(0),
        };
        let lowest = CodeFlags::LOWEST_128.when(i8_range == 128);
        let scale = CodeFlags::SCALE_POWER_OF_TWO.when(format == ScaleFormat::PowerOfTwo);
        codes | lowest | scale
    }
}

impl CodeParams {
    /// With the scales at `scale`, none below `floor`.
    #[inline]
    pub(crate) fn new(scale: &RawTensor, floor: f32, flags: CodeFlags) -> Self {
        CodeParams { scale: scale.data(), floor, flags: flags.0 }
    }
}

/// Bits of [`QuantParams::flags`].
const VECTOR: u32 = 1 << 0;
const STREAM: u32 = 1 << 1;

impl QuantParams {
    /// A call of `[rows, width]` views that has neither zero point nor faults.
    #[inline]
    pub(crate) fn new(input: &RawTensor, out: &RawTensor, width: usize, code: CodeParams) -> Self {
        QuantParams {
            input: input.data(),
            zero_point: std::ptr::null(),
            out: out.data(),
            faults: std::ptr::null_mut(),
            rows: input.dim(0) as i64,
            width: width as i64,
            input_stride: input.stride(0) as i64,
            out_stride: out.stride(0) as i64,
            code,
            operation: 0,
            flags: 0,
        }
    }

    /// The same with a zero point, if there is one.
    #[inline]
    pub(crate) fn zero_point(mut self, zero_point: Option<&RawTensor>) -> Self {
        if let Some(zero_point) = zero_point {
            self.zero_point = zero_point.data();
        }
        self
    }

    /// The same with the stream's buffer for faults of `operation`, if it has one.
    #[inline]
    pub(crate) fn faults(mut self, operation: u32, stream: StreamRef<'_>) -> Self {
        (self.operation, self.faults) = (operation, stream.fault_pointer());
        self
    }

    /// Whether pointers are aligned to whole vectors of `elements`, a power of two: of 16 bytes that are read, and of as many
    /// codes.
    #[inline]
    pub(crate) fn is_aligned(&self, elements: u64) -> bool {
        (self.input as usize).is_multiple_of(16) && (self.out as u64).is_multiple_of(elements)
    }
}

impl RowCall for QuantParams {
    #[inline]
    fn rows(&self) -> u64 {
        self.rows.unsigned_abs()
    }

    #[inline]
    fn width(&self) -> u64 {
        self.width.unsigned_abs()
    }

    #[inline]
    fn written(&self, _: u64) -> u64 {
        1
    }

    #[inline]
    fn is_vector(&self, elements: u64) -> bool {
        let sizes = self.width | self.input_stride | self.out_stride;
        self.is_aligned(elements) && sizes & (elements as i64 - 1) == 0
    }

    #[inline]
    fn settle(&mut self, vector: bool, stream: bool, _: bool) {
        self.flags |= if vector { VECTOR } else { 0 } | if stream { STREAM } else { 0 };
    }
}
