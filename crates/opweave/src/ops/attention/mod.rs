// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The attention family.

opweave_contract::attention_operators!(functions);

pub use opweave_contract::ops::attention::{KeySource, LseBase, PageTable, ScoreScale};
use opweave_tensor::{AnyRef, RawTensor};

/// A paged cache and the pages of each sequence.
#[derive(Clone, Copy, Debug)]
pub struct PagedKeys<'a> {
    /// Pages of keys, `[pages, page_size, num_kv_heads, head_dim]`, or with the two in the middle exchanged.
    pub k_cache: AnyRef<'a>,
    /// Pages of values, likewise.
    pub v_cache: AnyRef<'a>,
    /// What codes of keys and of values are multiplied by, `[1]` or `[num_kv_heads]`, where the problem says so.
    pub scales: Option<[AnyRef<'a>; 2]>,
    /// The pages of each sequence.
    pub pages: Pages<'a>,
}

/// The pages of each sequence, in the form that the problem says.
#[derive(Clone, Copy, Debug)]
pub enum Pages<'a> {
    /// A row of pages for each sequence, and its length in keys.
    BlockTables {
        /// `[sequences, max_pages]`.
        block_tables: AnyRef<'a>,
        /// `[sequences]`.
        seq_lens: AnyRef<'a>,
    },
    /// All pages in one list.
    Indptr {
        /// `[sequences + 1]`.
        kv_indptr: AnyRef<'a>,
        /// `[indices]`.
        kv_indices: AnyRef<'a>,
        /// `[sequences]`.
        last_page_len: AnyRef<'a>,
    },
}

/// What a call of attention may have besides queries, keys and values.
#[derive(Debug)]
pub struct AttentionOptions<'a> {
    /// What products of queries and keys are multiplied by, where the problem says that it is given.
    pub softmax_scale: f32,
    /// The bound of the scores, where the problem caps them.
    pub soft_cap: f32,
    /// A logit of each head, `[num_heads]`, where the problem has sinks.
    pub sinks: Option<AnyRef<'a>>,
    /// As many bytes as [`Prepared::workspace`](crate::Prepared::workspace) says, aligned as it says.
    pub workspace: &'a mut [u8],
}

impl Default for AttentionOptions<'_> {
    fn default() -> Self {
        AttentionOptions { softmax_scale: 1.0, soft_cap: 1.0, sinks: None, workspace: &mut [] }
    }
}

/// The views of the page tables, as the argument structs have them.
#[derive(Default)]
struct Tables {
    block_tables: Option<RawTensor>,
    seq_lens: Option<RawTensor>,
    kv_indptr: Option<RawTensor>,
    kv_indices: Option<RawTensor>,
    last_page_len: Option<RawTensor>,
}

impl Pages<'_> {
    fn tables(&self) -> Tables {
        match self {
            Pages::BlockTables { block_tables, seq_lens } => {
                Tables { block_tables: Some(block_tables.raw()), seq_lens: Some(seq_lens.raw()), ..Tables::default() }
            }
            Pages::Indptr { kv_indptr, kv_indices, last_page_len } => Tables {
                kv_indptr: Some(kv_indptr.raw()),
                kv_indices: Some(kv_indices.raw()),
                last_page_len: Some(last_page_len.raw()),
                ..Tables::default()
            },
        }
    }
}
