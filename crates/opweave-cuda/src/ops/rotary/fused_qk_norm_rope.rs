// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_qk_norm_rope` on NVIDIA GPUs.

use opweave_contract::Operator;
use opweave_contract::ops::rotary::{
    Between, FusedQkNormRope, FusedQkNormRopeArgs, FusedQkNormRopeProblem, RotaryStyle,
};
use opweave_device::{DeviceError, LaunchError, StreamRef, operation_code};

use crate::native::{LoadedImage, Native};
use crate::rotary::{Flags, Kernels, RotaryParams, Sizes};

impl Native for FusedQkNormRope {
    const STEM: &'static str = "fused_qk_norm_rope";
    type Prepared = Kernels;

    fn prepare(problem: &FusedQkNormRopeProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        let FusedQkNormRopeProblem { dtype, head_dim, rotary_dim, .. } = *problem;
        let heads = problem.num_heads + problem.num_kv_heads;
        Kernels::normalising(image, Sizes { dtype, heads, head_dim, rotary_dim })
    }

    #[inline]
    unsafe fn launch(
        problem: &FusedQkNormRopeProblem,
        args: &FusedQkNormRopeArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = RotaryParams::new(&args.positions, &args.cos_sin_cache, problem.head_dim, problem.rotary_dim)
            .packed(&args.qkv, problem.num_heads, problem.num_kv_heads)
            .norm(args.epsilon, args.q_weight.as_ref(), args.k_weight.as_ref(), problem.dtype)
            .faults(const { operation_code(FusedQkNormRope::NAME) }, stream)
            .flags(
                Flags::INTERLEAVED.when(problem.style == RotaryStyle::Interleaved)
                    | Flags::ROUND_HEAD.when(problem.between == Between::Rounded),
            );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
