// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `layer_norm` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{LayerNorm, LayerNormArgs, LayerNormProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::NormParams;
use crate::rows::Kernels;

impl Native for LayerNorm {
    const STEM: &'static str = "layer_norm";
    type Prepared = Kernels;

    fn prepare(problem: &LayerNormProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<LayerNorm>(problem, &["weight", "bias"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &LayerNormProblem,
        args: &LayerNormArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .weight(args.weight.as_ref(), problem.dtype)
            .bias(args.bias.as_ref(), problem.dtype);
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
