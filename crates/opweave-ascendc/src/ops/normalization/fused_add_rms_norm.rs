// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm` on Ascend NPUs.

use opweave_contract::ops::normalization::{FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem, Sum};
use opweave_device::StreamRef;
use opweave_tensor::DType;

use super::{Norm, NormTiling, address};
use crate::native::Native;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    input: *const u8,
    residual: *mut u8,
    weight: *const u8,
    out: *mut u8,
    tiling: NormTiling,
}

impl Native for FusedAddRmsNorm {
    type Tiling = Norm;
    type Call = Call;

    fn dtype(problem: &FusedAddRmsNormProblem) -> DType {
        problem.dtype
    }

    fn tiling(problem: &FusedAddRmsNormProblem) -> Norm {
        let &FusedAddRmsNormProblem { hidden_size, dtype, weight_dtype, weight_multiply, sum, .. } = problem;
        Norm::new(hidden_size, dtype, weight_dtype, true).modes(weight_multiply, sum == Sum::Rounded)
    }

    #[inline]
    fn call(norm: &Norm, args: &FusedAddRmsNormArgs, _: StreamRef<'_>) -> Option<(Call, u64)> {
        let (input, residual, out) = (args.input.data(), args.residual.data(), args.out.data());
        let (weight, rows) = (address(args.weight.as_ref()), args.input.dim(0) as u64);
        let tiling = norm.of(&args.input, Some(&args.residual), &args.out, args.epsilon);
        (rows > 0).then_some((Call { input, residual, weight, out, tiling }, rows))
    }
}
