// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `attention_prefill` on slices.

pub use opweave_contract::ops::attention::{AttentionPrefill, AttentionPrefillArgs, AttentionPrefillProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use super::{AttentionOptions, PagedKeys, Tables};
use crate::call::{problem_handle, run_in};
use crate::{CallError, Handle};

problem_handle!(AttentionPrefill, AttentionPrefillProblem);

/// Queries of several sequences, one sequence after the other.
#[derive(Clone, Copy, Debug)]
pub struct Queries<'a> {
    /// `[tokens, num_heads, head_dim]`.
    pub q: AnyRef<'a>,
    /// Where each sequence begins, and where the last one ends: `[sequences + 1]`.
    pub cu_seqlens: AnyRef<'a>,
}

/// Where the keys and values of a prefill are.
#[expect(clippy::large_enum_variant, reason = "one is made for a call, and views are not worth an allocation")]
#[derive(Clone, Copy, Debug)]
pub enum PrefillKeys<'a> {
    /// In rows.
    Ragged {
        /// `[kv_tokens, num_kv_heads, head_dim]`.
        k: AnyRef<'a>,
        /// `[kv_tokens, num_kv_heads, head_dim_v]`.
        v: AnyRef<'a>,
        /// Where each sequence begins, and where the last one ends: `[sequences + 1]`.
        kv_indptr: AnyRef<'a>,
    },
    /// In the pages of a cache.
    Paged(PagedKeys<'a>),
}

/// Attention of the queries of each sequence to its keys, the last query standing at the last key.
///
/// - `queries`: rows, and which belong to which sequence.
/// - `keys`: rows or pages, as the problem says.
/// - `out`: `[tokens, num_heads, head_dim_v]`.
/// - `lse`: the logarithm of each denominator, f32, `[tokens, num_heads]`, where the problem says its base.
///
/// # Errors
/// [`CallError`], also for a range, a length or a page outside its table; nothing is written then.
pub fn attention_prefill<'a>(
    op: &impl Handle<AttentionPrefill>,
    queries: Queries<'a>,
    keys: PrefillKeys<'a>,
    options: AttentionOptions<'a>,
    out: impl Into<AnyMut<'a>>,
    lse: Option<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (mut tables, mut rows, mut caches, mut scales) = (Tables::default(), [None; 2], [None; 2], [None; 2]);
    match keys {
        PrefillKeys::Ragged { k, v, kv_indptr } => {
            rows = [Some(k.raw()), Some(v.raw())];
            tables.kv_indptr = Some(kv_indptr.raw());
        }
        PrefillKeys::Paged(paged) => {
            tables = paged.pages.tables();
            caches = [Some(paged.k_cache.raw()), Some(paged.v_cache.raw())];
            scales = paged.scales.map_or([None; 2], |scales| scales.map(|s| Some(s.raw())));
        }
    }
    let args = AttentionPrefillArgs {
        q: queries.q.raw(),
        cu_seqlens_q: queries.cu_seqlens.raw(),
        k: rows[0],
        v: rows[1],
        k_cache: caches[0],
        v_cache: caches[1],
        k_scale: scales[0],
        v_scale: scales[1],
        block_tables: tables.block_tables,
        seq_lens: tables.seq_lens,
        kv_indptr: tables.kv_indptr,
        kv_indices: tables.kv_indices,
        last_page_len: tables.last_page_len,
        sinks: options.sinks.map(|s| s.raw()),
        out: out.into().raw(),
        lse: lse.map(|l| l.raw()),
        softmax_scale: options.softmax_scale,
        soft_cap: options.soft_cap,
    };
    run_in(op, &args, options.workspace, stream)
}
