// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `l2_norm` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{L2Form, L2Norm, L2NormArgs, L2NormProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams};
use crate::rows::Kernels;

impl Native for L2Norm {
    const STEM: &'static str = "l2_norm";
    type Prepared = Kernels;

    fn prepare(problem: &L2NormProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Kernels::find(image, problem.dtype)
    }

    #[inline]
    unsafe fn launch(
        problem: &L2NormProblem,
        args: &L2NormArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = NormParams::new(&args.input, &args.out, problem.hidden_size, 1, args.epsilon)
            .flags(Flags::MAX_NORM_EPS.when(problem.form == L2Form::MaxNormEps));
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
