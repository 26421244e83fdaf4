// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm_dynamic_quant` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{
    QuantMode, RmsNormDynamicQuant, RmsNormDynamicQuantArgs, RmsNormDynamicQuantProblem, WeightMultiply,
};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams, NormQuantParams};
use crate::quantization::{CodeFlags, CodeParams};
use crate::rows::Kernels;

impl Native for RmsNormDynamicQuant {
    const STEM: &'static str = "rms_norm_dynamic_quant";
    type Prepared = Kernels;

    fn prepare(problem: &RmsNormDynamicQuantProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<RmsNormDynamicQuant>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &RmsNormDynamicQuantProblem,
        args: &RmsNormDynamicQuantArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let norm = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .weight(args.weight.as_ref(), problem.dtype)
            .flags(
                Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding)
                    | Flags::QUANTISE_UNROUNDED.when(problem.mode == QuantMode::F32),
            );
        let flags = CodeFlags::new(problem.output_dtype, problem.i8_range, problem.scale_format);
        let call = NormQuantParams { norm, code: CodeParams::new(&args.scale, args.scale_floor, flags) };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
