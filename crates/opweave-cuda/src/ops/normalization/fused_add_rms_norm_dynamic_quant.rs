// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm_dynamic_quant` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{
    FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantArgs, FusedAddRmsNormDynamicQuantProblem, QuantMode, Sum,
    WeightMultiply,
};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams, NormQuantParams};
use crate::quantization::{CodeFlags, CodeParams};
use crate::rows::Kernels;

impl Native for FusedAddRmsNormDynamicQuant {
    const STEM: &'static str = "fused_add_rms_norm_dynamic_quant";
    type Prepared = Kernels;

    fn prepare(problem: &FusedAddRmsNormDynamicQuantProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<FusedAddRmsNormDynamicQuant>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &FusedAddRmsNormDynamicQuantProblem,
        args: &FusedAddRmsNormDynamicQuantArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let norm = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .residual(&args.residual)
            .weight(args.weight.as_ref(), problem.dtype)
            .flags(
                Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding)
                    | Flags::ROUND_SUM.when(problem.sum == Sum::Rounded)
                    | Flags::QUANTISE_UNROUNDED.when(problem.mode == QuantMode::F32),
            );
        let flags = CodeFlags::new(problem.output_dtype, problem.i8_range, problem.scale_format);
        let call = NormQuantParams { norm, code: CodeParams::new(&args.scale, args.scale_floor, flags) };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
