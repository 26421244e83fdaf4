// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gemma_rms_norm` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{GemmaRmsNorm, GemmaRmsNormArgs, GemmaRmsNormProblem, WeightMultiply};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams};
use crate::rows::Kernels;

impl Native for GemmaRmsNorm {
    const STEM: &'static str = "rms_norm";
    type Prepared = Kernels;

    fn prepare(problem: &GemmaRmsNormProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<GemmaRmsNorm>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &GemmaRmsNormProblem,
        args: &GemmaRmsNormArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .weight(Some(&args.weight), problem.dtype)
            .flags(
                Flags::WEIGHT_PLUS_ONE
                    | Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding),
            );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
