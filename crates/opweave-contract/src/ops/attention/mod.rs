// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Attention: queries against the keys and values of their sequences.

use opweave_tensor::DType;

use crate::{ArgSpecs, Cost, DynDims, NumericalMode, OpContract, Saturation, choice};

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! attention_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] attention:
            attention_prefill: AttentionPrefill,
            merge_attention_states: MergeAttentionStates,
            paged_attention_decode: PagedAttentionDecode,
        }
    };
}

attention_operators!(family);

choice! {
    /// The base of a log-sum-exp.
    pub enum LseBase {
        /// Natural logarithms (vLLM, FlashAttention).
        E = "e",
        /// Binary logarithms (FlashInfer).
        Two = "2",
    }
}

choice! {
    /// Where the factor of the scores comes from.
    pub enum ScoreScale {
        /// `1 / sqrt(head_dim)`, of the head as it is and not as a kernel pads it.
        RsqrtHeadDim = "rsqrt_head_dim",
        /// The scalar `softmax_scale`.
        Given = "given",
    }
}

choice! {
    /// How a call says which pages belong to a sequence.
    pub enum PageTable {
        /// `block_tables` and `seq_lens` (vLLM).
        BlockTables = "block_tables",
        /// `kv_indptr`, `kv_indices` and `last_page_len` (FlashInfer).
        Indptr = "indptr",
    }
}

choice! {
    /// Where the keys and values of a prefill are.
    pub enum KeySource {
        /// In the pages of a cache, by `block_tables` and `seq_lens`.
        BlockTables = "block_tables",
        /// In the pages of a cache, by `kv_indptr`, `kv_indices` and `last_page_len`.
        Indptr = "indptr",
        /// In rows, one sequence after the other, by `kv_indptr`.
        Ragged = "ragged",
    }
}

impl PageTable {
    /// The dtype of `block_tables` and `seq_lens`, where there are such.
    pub fn blocks(self, dtype: DType) -> Option<DType> {
        (self == PageTable::BlockTables).then_some(dtype)
    }

    /// The dtype of `kv_indptr`, `kv_indices` and `last_page_len`, where there are such.
    pub fn indptr(self, dtype: DType) -> Option<DType> {
        (self == PageTable::Indptr).then_some(dtype)
    }
}

impl KeySource {
    /// The page table, where there are pages.
    pub const fn page_table(self) -> Option<PageTable> {
        match self {
            KeySource::BlockTables => Some(PageTable::BlockTables),
            KeySource::Indptr => Some(PageTable::Indptr),
            KeySource::Ragged => None,
        }
    }

    /// `dtype`, where keys lie in rows.
    pub fn ragged(self, dtype: DType) -> Option<DType> {
        (self == KeySource::Ragged).then_some(dtype)
    }

    /// `dtype`, where keys lie in pages.
    pub fn paged(self, dtype: DType) -> Option<DType> {
        (self != KeySource::Ragged).then_some(dtype)
    }

    /// `dtype`, where pages are found by `block_tables`.
    pub fn blocks(self, dtype: DType) -> Option<DType> {
        (self == KeySource::BlockTables).then_some(dtype)
    }

    /// `dtype`, where pages are found by `kv_indptr`.
    pub fn indptr(self, dtype: DType) -> Option<DType> {
        (self == KeySource::Indptr).then_some(dtype)
    }
}

/// Legal numbers of features of a head.
pub const HEAD_DIMS: &[u64] = &[64, 80, 96, 112, 128, 192, 256];

/// The fault of a query range that descends or leaves the queries.
pub const QUERIES_OUTSIDE: &str = "query range outside the tokens";
/// The fault of a length, or of a range of keys or pages, that its table does not have.
pub const KEYS_OUTSIDE: &str = "key range outside its table";
/// The fault of a page that the cache does not have.
pub const PAGE_OUTSIDE: &str = "page outside the cache";

/// Scores, probabilities and their sums in f32, and one rounding at the end.
const fn f32_throughout(operation: &'static str, aliases: &'static [(&'static str, &'static str)]) -> OpContract {
    OpContract {
        operation,
        version: 1,
        mutates: &[],
        aliases,
        numerical_mode: NumericalMode {
            name: "",
            accumulation: DType::F32,
            roundings: &[],
            weight_multiply: None,
            saturation: Saturation::None,
        },
    }
}

/// What the cost of attention depends on.
struct Heads {
    queries: usize,
    keys: usize,
    width: usize,
    width_v: usize,
    /// Bits of an element of the cache.
    bits: usize,
}

/// The cost of `pairs` scores, and of reading `keys` keys and their values from a cache, if there is one.
fn cost(heads: &Heads, specs: &ArgSpecs, dims: &DynDims, keys: u64, pairs: u64) -> Cost {
    let width = (heads.width + heads.width_v) as u64;
    let mut cost =
        Cost { flops: pairs.saturating_mul(heads.queries as u64).saturating_mul(2 * width), ..Cost::default() };
    for spec in specs.tensors().filter(|s| s.present) {
        let cached =
            |width: usize| keys.saturating_mul((heads.keys * width) as u64).saturating_mul(heads.bits as u64) / 8;
        let bytes = match spec.name {
            "k_cache" => cached(heads.width),
            "v_cache" => cached(heads.width_v),
            _ => spec.bytes(dims) as u64,
        };
        let total = if spec.role.writes() { &mut cost.bytes_written } else { &mut cost.bytes_read };
        *total = total.saturating_add(bytes);
    }
    cost
}
