// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm` on Ascend NPUs.

use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::StreamRef;
use opweave_tensor::DType;

use super::{Norm, NormTiling, address};
use crate::native::Native;

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    input: *const u8,
    weight: *const u8,
    out: *mut u8,
    tiling: NormTiling,
}

impl Native for RmsNorm {
    type Tiling = Norm;
    type Call = Call;

    fn dtype(problem: &RmsNormProblem) -> DType {
        problem.dtype
    }

    fn tiling(problem: &RmsNormProblem) -> Norm {
        let &RmsNormProblem { hidden_size, dtype, weight_dtype, weight_multiply, .. } = problem;
        Norm::new(hidden_size, dtype, weight_dtype, false).modes(weight_multiply, false)
    }

    #[inline]
    fn call(norm: &Norm, args: &RmsNormArgs, _: StreamRef<'_>) -> Option<(Call, u64)> {
        let (input, rows) = (args.input.data(), args.input.dim(0) as u64);
        let tiling = norm.of(&args.input, None, &args.out, args.epsilon);
        let call = Call { input, weight: address(args.weight.as_ref()), out: args.out.data(), tiling };
        (rows > 0).then_some((call, rows))
    }
}
