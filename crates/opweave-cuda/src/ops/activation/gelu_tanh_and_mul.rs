// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gelu_tanh_and_mul` on NVIDIA GPUs.

use opweave_contract::ops::activation::{GeluTanhAndMul, GeluTanhAndMulArgs, GeluTanhAndMulProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::activation::{Halved, Kernels};
use crate::native::{LoadedImage, Native};

impl Native for GeluTanhAndMul {
    const STEM: &'static str = "gelu_tanh_and_mul";
    type Prepared = Kernels;

    fn prepare(problem: &GeluTanhAndMulProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Kernels::find(image, problem.dtype, problem.intermediate_size)
    }

    #[inline]
    unsafe fn launch(
        problem: &GeluTanhAndMulProblem,
        args: &GeluTanhAndMulArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let (input, up, out) = (&args.input, args.up.as_ref(), &args.out);
        let call = Halved { input, up, out, product: problem.activation_product };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(&call, stream) }
    }
}
