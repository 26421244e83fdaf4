// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `paged_attention_decode` on slices.

pub use opweave_contract::ops::attention::{
    PagedAttentionDecode, PagedAttentionDecodeArgs, PagedAttentionDecodeProblem,
};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use super::{AttentionOptions, PagedKeys, Tables};
use crate::call::{problem_handle, run_in};
use crate::{CallError, Handle};

problem_handle!(PagedAttentionDecode, PagedAttentionDecodeProblem);

/// Attention of one query for each sequence to the keys of its sequence in a paged cache, of which it is the last.
///
/// - `q`: `[sequences, num_heads, head_dim]`.
/// - `keys`: the cache and the pages of each sequence.
/// - `out`: `[sequences, num_heads, head_dim_v]`.
/// - `lse`: the logarithm of each denominator, f32, `[sequences, num_heads]`, where the problem says its base.
///
/// # Errors
/// [`CallError`], also for a length or a page outside its table; nothing is written then.
pub fn paged_attention_decode<'a>(
    op: &impl Handle<PagedAttentionDecode>,
    q: impl Into<AnyRef<'a>>,
    keys: PagedKeys<'a>,
    options: AttentionOptions<'a>,
    out: impl Into<AnyMut<'a>>,
    lse: Option<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let Tables { block_tables, seq_lens, kv_indptr, kv_indices, last_page_len } = keys.pages.tables();
    let [k_scale, v_scale] = keys.scales.map_or([None; 2], |scales| scales.map(|s| Some(s.raw())));
    let args = PagedAttentionDecodeArgs {
        q: q.into().raw(),
        k_cache: keys.k_cache.raw(),
        v_cache: keys.v_cache.raw(),
        k_scale,
        v_scale,
        block_tables,
        seq_lens,
        kv_indptr,
        kv_indices,
        last_page_len,
        sinks: options.sinks.map(|s| s.raw()),
        out: out.into().raw(),
        lse: lse.map(|l| l.raw()),
        softmax_scale: options.softmax_scale,
        soft_cap: options.soft_cap,
    };
    run_in(op, &args, options.workspace, stream)
}
