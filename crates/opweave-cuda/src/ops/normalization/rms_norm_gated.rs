// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm_gated` on NVIDIA GPUs.

use opweave_contract::ops::normalization::{
    Gate, GateOrder, RmsNormGated, RmsNormGatedArgs, RmsNormGatedProblem, WeightMultiply,
};
use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::native::{LoadedImage, Native};
use crate::normalization::{Flags, NormParams};
use crate::rows::Kernels;

impl Native for RmsNormGated {
    const STEM: &'static str = "rms_norm_gated";
    type Prepared = Kernels;

    fn prepare(problem: &RmsNormGatedProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels::find(image, problem.dtype)?.parameters::<RmsNormGated>(problem, &["weight"]))
    }

    #[inline]
    unsafe fn launch(
        problem: &RmsNormGatedProblem,
        args: &RmsNormGatedArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call =
            NormParams::new(&args.input, &args.out, problem.hidden_size / problem.groups, problem.groups, args.epsilon)
                .gate(&args.z)
                .weight(args.weight.as_ref(), problem.dtype)
                .flags(
                    Flags::GATE_SIGMOID.when(problem.gate == Gate::Sigmoid)
                        | Flags::GATE_THEN_NORM.when(problem.order == GateOrder::GateThenNorm)
                        | Flags::ROUND_NORMALISED.when(problem.weight_multiply == WeightMultiply::AfterRounding),
                );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
