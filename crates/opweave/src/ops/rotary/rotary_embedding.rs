// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rotary_embedding` on slices.

pub use opweave_contract::ops::rotary::{RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(RotaryEmbedding, RotaryEmbeddingProblem);

/// Turns the first `rotary_dim` features of every head of `q` and `k` by the angles of each token's position, in place.
///
/// - `positions`: `[tokens]`.
/// - `q`: `[tokens, num_heads, head_dim]`.
/// - `k`: `[tokens, num_kv_heads, head_dim]`, or none where the problem says so.
/// - `cos_sin_cache`: `[max_position, rotary_dim]`, cosines and then sines, such as
///   [`build_cos_sin_cache`](super::build_cos_sin_cache) makes.
///
/// # Errors
/// [`CallError`], also for a position outside the cache; nothing is written then.
pub fn rotary_embedding<'a>(
    op: &impl Handle<RotaryEmbedding>,
    positions: impl Into<AnyRef<'a>>,
    q: impl Into<AnyMut<'a>>,
    k: Option<AnyMut<'a>>,
    cos_sin_cache: impl Into<AnyRef<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let args = RotaryEmbeddingArgs {
        positions: positions.into().raw(),
        q: q.into().raw(),
        k: k.map(|k| k.raw()),
        cos_sin_cache: cos_sin_cache.into().raw(),
    };
    run(op, &args, stream)
}
