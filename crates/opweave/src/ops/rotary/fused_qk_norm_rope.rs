// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_qk_norm_rope` on slices.

pub use opweave_contract::ops::rotary::{FusedQkNormRope, FusedQkNormRopeArgs, FusedQkNormRopeProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(FusedQkNormRope, FusedQkNormRopeProblem);

/// Normalises every query and key head and turns it by the angles of its token's position, in place in the packed projection.
///
/// - `positions`: `[tokens]`.
/// - `qkv`: `[tokens, (num_heads + num_kv_heads + num_value_heads) * head_dim]`.
/// - `weights`: of query and of key heads, `[head_dim]` each, or none where the problem says so.
/// - `cos_sin_cache`: `[max_position, rotary_dim]`, cosines and then sines.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`], also for a position outside the cache; nothing is written then.
pub fn fused_qk_norm_rope<'a>(
    op: &impl Handle<FusedQkNormRope>,
    positions: impl Into<AnyRef<'a>>,
    qkv: impl Into<AnyMut<'a>>,
    weights: Option<[AnyRef<'a>; 2]>,
    cos_sin_cache: impl Into<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let [q_weight, k_weight] = weights.map_or([None; 2], |weights| weights.map(|w| Some(w.raw())));
    let args = FusedQkNormRopeArgs {
        positions: positions.into().raw(),
        qkv: qkv.into().raw(),
        q_weight,
        k_weight,
        cos_sin_cache: cos_sin_cache.into().raw(),
        epsilon,
    };
    run(op, &args, stream)
}
