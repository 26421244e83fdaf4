// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `dynamic_quant` on Ascend NPUs, to i8: Atlas A2 converts to no float of 8 bits.

use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantArgs, DynamicQuantProblem, ScaleFormat};
use opweave_device::StreamRef;
use opweave_registry::{Domain, Needs};
use opweave_tensor::DType;

use crate::native::Native;
use crate::tiles::{bytes, tile};

/// The twin of `QuantTiling` in `kernels-npu/include/opweave/quant_tiling.h`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct QuantTiling {
    rows: i64,
    width: i64,
    input_stride: i64,
    out_stride: i64,
    tile: u32,
    floor: f32,
    flags: u32,
    reserved: u32,
}

const _: () = assert!(size_of::<QuantTiling>() == 48);

const LOWEST_128: u32 = 1 << 0;
const SCALE_POWER_OF_TWO: u32 = 1 << 1;

/// What is decided of a problem: a tiling whose tensors are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows(QuantTiling);

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    input: *const u8,
    out: *mut u8,
    scale: *mut u8,
    tiling: QuantTiling,
}

impl Native for DynamicQuant {
    type Tiling = Rows;
    type Call = Call;

    fn needs() -> Needs {
        Needs::default().with(Domain::DTypes(vec!["output_dtype"], vec![vec![Some(DType::I8)]]))
    }

    fn dtype(problem: &DynamicQuantProblem) -> DType {
        problem.dtype
    }

    fn tiling(problem: &DynamicQuantProblem) -> Rows {
        let lowest = if problem.i8_range == 128 { LOWEST_128 } else { 0 };
        let power = if problem.scale_format == ScaleFormat::PowerOfTwo { SCALE_POWER_OF_TWO } else { 0 };
        // Of each element: the input and its code, twice each for what is on its way, five in f32, and a share of the partial
        // results.
        let each = 2 * bytes(problem.dtype) + 2 + 5 * 4 + 1;
        Rows(QuantTiling {
            rows: 0,
            width: problem.hidden_size as i64,
            input_stride: 0,
            out_stride: 0,
            tile: tile(problem.hidden_size, each),
            floor: 0.0,
            flags: lowest | power,
            reserved: 0,
        })
    }

    #[inline]
    fn call(&Rows(known): &Rows, args: &DynamicQuantArgs, _: StreamRef<'_>) -> Option<(Call, u64)> {
        let rows = args.input.dim(0) as u64;
        let tiling = QuantTiling {
            rows: args.input.dim(0) as i64,
            input_stride: args.input.stride(0) as i64,
            out_stride: args.out.stride(0) as i64,
            floor: args.scale_floor,
            ..known
        };
        let call = Call { input: args.input.data(), out: args.out.data(), scale: args.scale.data(), tiling };
        (rows > 0).then_some((call, rows))
    }
}
