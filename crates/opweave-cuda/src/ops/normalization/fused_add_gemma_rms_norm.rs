// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_gemma_rms_norm` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddGemmaRmsNormArgs, FusedAddGemmaRmsNormProblem, Sum, WeightMultiply,
};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams};
use crate::rows::Kernels;

impl Native for FusedAddGemmaRmsNorm {
    const STEM: &'static str = "fused_add_rms_norm";
    type Prepared = Kernels;

    fn prepare(problem: &FusedAddGemmaRmsNormProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<FusedAddGemmaRmsNorm>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &FusedAddGemmaRmsNormProblem,
        args: &FusedAddGemmaRmsNormArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .residual(&args.residual)
            .weight(Some(&args.weight), problem.dtype)
            .flags(
                Flags::WEIGHT_PLUS_ONE
                    | Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding)
                    | Flags::ROUND_SUM.when(problem.sum == Sum::Rounded),
            );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
