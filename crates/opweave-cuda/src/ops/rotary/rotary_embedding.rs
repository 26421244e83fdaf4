// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rotary_embedding` on NVIDIA GPUs.

use opweave_contract::Operator;
use opweave_contract::ops::rotary::{
    Products, RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryStyle,
};
use opweave_device::{DeviceError, LaunchError, StreamRef, operation_code};

use crate::native::{LoadedImage, Native};
use crate::rotary::{Flags, Kernels, RotaryParams, Sizes};

impl Native for RotaryEmbedding {
    const STEM: &'static str = "rotary_embedding";
    type Prepared = Kernels;

    fn prepare(problem: &RotaryEmbeddingProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        let RotaryEmbeddingProblem { dtype, head_dim, rotary_dim, .. } = *problem;
        let keys = if problem.key_dtype.is_some() { problem.num_kv_heads } else { 0 };
        Kernels::turning(image, Sizes { dtype, heads: problem.num_heads + keys, head_dim, rotary_dim })
    }

    #[inline]
    unsafe fn launch(
        problem: &RotaryEmbeddingProblem,
        args: &RotaryEmbeddingArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let call = RotaryParams::new(&args.positions, &args.cos_sin_cache, problem.head_dim, problem.rotary_dim)
            .heads(&args.q, args.k.as_ref())
            .faults(const { operation_code(RotaryEmbedding::NAME) }, stream)
            .flags(
                Flags::INTERLEAVED.when(problem.style == RotaryStyle::Interleaved)
                    | Flags::ROUND_PRODUCTS.when(problem.products == Products::Rounded),
            );
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the kernel needs.
        unsafe { kernels.launch(call, stream) }
    }
}
