// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `dynamic_quant` on NVIDIA GPUs.

use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantArgs, DynamicQuantProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::quantization::{CodeFlags, CodeParams, QuantParams};
use crate::rows::Kernels;

impl Native for DynamicQuant {
    const STEM: &'static str = "dynamic_quant";
    type Prepared = Kernels;

    fn prepare(problem: &DynamicQuantProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Kernels::find(image, problem.dtype)
    }

    #[inline]
    unsafe fn launch(
        problem: &DynamicQuantProblem,
        args: &DynamicQuantArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let flags = CodeFlags::new(problem.output_dtype, problem.i8_range, problem.scale_format);
        let code = CodeParams::new(&args.scale, args.scale_floor, flags);
        let call = QuantParams::new(&args.input, &args.out, problem.hidden_size, code);
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
