// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `reshape_paged_cache` on slices.

pub use opweave_contract::ops::kv_cache::{ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(ReshapePagedCache, ReshapePagedCacheProblem);

/// Stores rows of keys and values in the slots of a paged cache.
///
/// - `slot_mapping`: `[tokens]`, `page * page_size + offset` or -1.
/// - `rows`: keys and values, `[at least tokens, num_kv_heads, head_dim]` and `[.., head_dim_v]`.
/// - `caches`: of keys and values, `[pages, page_size, num_kv_heads, head_dim]`, or with the two in the middle exchanged.
/// - `scales`: of keys and values, `[1]` or `[num_kv_heads]`, or none where the problem says so.
///
/// # Errors
/// [`CallError`], also for a slot outside the cache that is not -1; nothing is written then.
pub fn reshape_paged_cache<'a>(
    op: &impl Handle<ReshapePagedCache>,
    slot_mapping: impl Into<AnyRef<'a>>,
    rows: [AnyRef<'a>; 2],
    caches: [AnyMut<'a>; 2],
    scales: Option<[AnyRef<'a>; 2]>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let ([k, v], [k_cache, v_cache]) = (rows.map(|r| r.raw()), caches.map(|c| c.raw()));
    let [k_scale, v_scale] = scales.map_or([None; 2], |scales| scales.map(|s| Some(s.raw())));
    let slot_mapping = slot_mapping.into().raw();
    run(op, &ReshapePagedCacheArgs { slot_mapping, k, v, k_scale, v_scale, k_cache, v_cache }, stream)
}
