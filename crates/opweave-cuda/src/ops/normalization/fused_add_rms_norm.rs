// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{
    FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem, Sum, WeightMultiply,
};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams};
use crate::rows::Kernels;

impl Native for FusedAddRmsNorm {
    const STEM: &'static str = "fused_add_rms_norm";
    type Prepared = Kernels;

    fn prepare(problem: &FusedAddRmsNormProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<FusedAddRmsNorm>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &FusedAddRmsNormProblem,
        args: &FusedAddRmsNormArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .residual(&args.residual)
            .weight(args.weight.as_ref(), problem.dtype)
            .flags(
                Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding)
                    | Flags::ROUND_SUM.when(problem.sum == Sum::Rounded),
            );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
