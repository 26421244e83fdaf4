// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `softmax` on NVIDIA GPUs.

use opweave_contract::ops::softmax::{Softmax, SoftmaxArgs, SoftmaxProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::softmax::Kernels;

impl Native for Softmax {
    const STEM: &'static str = "softmax";
    type Prepared = Kernels;

    fn prepare(problem: &SoftmaxProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Kernels::find(image, problem.dtype, problem.out_dtype)
    }

    #[inline]
    unsafe fn launch(
        _: &SoftmaxProblem,
        args: &SoftmaxArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(&args.input, &args.out, args.temperature, false, stream) }
    }
}
