// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `quantize_per_tensor` on NVIDIA GPUs.

use opweave_contract::Operator;
use opweave_contract::ops::quantization::{
    QuantizePerTensor, QuantizePerTensorArgs, QuantizePerTensorProblem, ScaleFormat,
};
use opweave_device::{DeviceError, LaunchError, StreamRef, operation_code};

use crate::native::{LoadedImage, Native};
use crate::quantization::{CodeFlags, CodeParams, FixedKernels, QuantParams};

impl Native for QuantizePerTensor {
    const STEM: &'static str = "quantize_per_tensor";
    type Prepared = FixedKernels;

    fn prepare(problem: &QuantizePerTensorProblem, image: &LoadedImage<'_>) -> Result<FixedKernels, DeviceError> {
        FixedKernels::find(image, problem.dtype)
    }

    #[inline]
    unsafe fn launch(
        problem: &QuantizePerTensorProblem,
        args: &QuantizePerTensorArgs,
        kernels: &FixedKernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        // The scale is given and read as f32.
        let flags = CodeFlags::new(problem.output_dtype, problem.i8_range, ScaleFormat::F32);
        let code = CodeParams::new(&args.scale, 0.0, flags);
        let call = QuantParams::new(&args.input, &args.out, problem.hidden_size, code)
            .zero_point(args.zero_point.as_ref())
            .faults(const { operation_code(QuantizePerTensor::NAME) }, stream);
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
