// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Several queries for each sequence, against rows or against a paged cache.

use std::num::NonZero;

use opweave_tensor::DType;

use super::{HEAD_DIMS, Heads, KeySource, LseBase, ScoreScale, cost, f32_throughout};
use crate::ops::kv_cache::{CacheFormat, CacheLayout};
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `attention_prefill`.
pub static ATTENTION_PREFILL: OpContract = f32_throughout("attention_prefill", &[]);

operator! {
    /// `out[t, h] = sum over j of softmax_j(scale * q[t, h] . k[j]) v[j]` over the keys of the sequence of token `t` that it sees.
    ///
    /// The last query of a sequence stands at its last key: query `i` of `n` at position `p = keys - n + i`. If `causal`, it sees
    /// keys up to `p`; with a window of W, keys after `p - W`. Scores are capped before they are masked; sinks join the
    /// denominator alone. A query that sees no key gives 0, and a log-sum-exp of its sink, or of -infinity; so does a token of no
    /// sequence. A range of queries or keys that its table does not have is a fault, and its sequence has none; a page that the
    /// cache does not have is a fault, and its keys are left out.
    ///
    /// Vaswani and others, "Attention is all you need", 2017; Dao, "FlashAttention-2", 2023.
    pub AttentionPrefill = "attention_prefill";
    problem AttentionPrefillProblem {
        required {
            /// Heads of queries.
            num_heads: usize => Legal::Range(1, 1 << 16);
            /// Heads of keys and of values; query head `h` attends to key head `h / (num_heads / num_kv_heads)`.
            num_kv_heads: usize => Legal::Range(1, 1 << 16);
            /// Features of a query and of a key.
            head_dim: usize => Legal::Ints(HEAD_DIMS);
            /// dtype of `q`, `k`, `v` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// Features of a value.
            head_dim_v: usize = head_dim => Legal::Ints(HEAD_DIMS);
            /// Whether a query sees no key after its own position.
            causal: bool = true => Legal::Any;
            /// Where keys and values are.
            keys: KeySource = KeySource::BlockTables => Legal::Any;
            /// Tokens of a page, where there are pages.
            page_size: usize = 16 => Legal::Range(1, 1 << 20);
            /// dtype of `cu_seqlens_q`, of `kv_indptr` and of the page table.
            index_dtype: DType = DType::I32 => Legal::DTypes(&[DType::I32, DType::I64]);
            /// The order of tokens and heads in a page.
            layout: CacheLayout = CacheLayout::Nhd => Legal::Any;
            /// What the cache holds.
            cache_format: CacheFormat = CacheFormat::Plain => Legal::Any;
            /// Where the factor of the scores comes from.
            score_scale: ScoreScale = ScoreScale::RsqrtHeadDim => Legal::Any;
            /// Whether scores are capped, to `soft_cap * tanh(score / soft_cap)`.
            soft_capped: bool = false => Legal::Any;
            /// How many keys a query sees at most: those up to its own position, which counts.
            sliding_window: Option<NonZero<usize>> = None => Legal::Range(1, u64::MAX);
            /// dtype of `sinks`.
            sink_dtype: Option<DType> = None => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
            /// The base of `lse`, if it is wanted.
            lse_base: Option<LseBase> = None => Legal::Any;
        }
        relations [Relation::Divides("num_heads", "num_kv_heads")]
    }
    dims {
        /// Sequences.
        sequences >= 0;
        /// Queries of all sequences.
        tokens >= 0;
        /// Rows of keys of all sequences.
        kv_tokens >= 0;
        /// Pages that `block_tables` has for each sequence.
        max_pages >= 0;
        /// Pages that `kv_indices` has for all sequences.
        indices >= 0;
        /// Pages of the cache.
        pages >= 0;
    }
    args AttentionPrefillArgs {
        tensors {
            /// The queries, one sequence after the other.
            q: In [tokens strided, num_heads strided, head_dim] of dtype;
            /// Where the queries of each sequence begin, and where the last one's end.
            cu_seqlens_q: In [(sequences + 1)] of index_dtype;
            /// Keys in rows, one sequence after the other.
            k: OptionalIn [kv_tokens strided, num_kv_heads strided, head_dim] of keys.ragged(dtype);
            /// Values in rows.
            v: OptionalIn [kv_tokens strided, num_kv_heads strided, head_dim_v] of keys.ragged(dtype);
            /// Pages of keys.
            k_cache: OptionalIn [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim
            ] of keys.paged(cache_format.dtype(dtype));
            /// Pages of values.
            v_cache: OptionalIn [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim_v
            ] of keys.paged(cache_format.dtype(dtype));
            /// What codes of keys are multiplied by.
            k_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of keys.paged(DType::F32).and(cache_format.scale_dtype());
            /// What codes of values are multiplied by.
            v_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of keys.paged(DType::F32).and(cache_format.scale_dtype());
            /// The pages of each sequence, in order.
            block_tables: OptionalIn [sequences strided, max_pages] of keys.blocks(index_dtype);
            /// Keys of each sequence, those of its queries included.
            seq_lens: OptionalIn [sequences] of keys.blocks(index_dtype);
            /// Where each sequence begins, and where the last one ends: in rows of `k`, or in `kv_indices`.
            kv_indptr: OptionalIn [(sequences + 1)] of keys.ragged(index_dtype).or(keys.indptr(index_dtype));
            /// The pages of all sequences, one sequence after the other.
            kv_indices: OptionalIn [indices] of keys.indptr(index_dtype);
            /// Keys in the last page of each sequence.
            last_page_len: OptionalIn [sequences] of keys.indptr(index_dtype);
            /// A logit of each head that takes part in the denominator and has no value.
            sinks: OptionalIn [num_heads] of sink_dtype;
            /// The result.
            out: Out [tokens strided, num_heads strided, head_dim_v] of dtype;
            /// The logarithm of each denominator.
            lse: OptionalOut [tokens strided, num_heads] of lse_base.map(|_| DType::F32);
        }
        scalars {
            /// What products of queries and keys are multiplied by, if `score_scale` is `given`.
            softmax_scale: f32 = 0.125 => ScalarRange::FINITE;
            /// The bound of the scores, if `soft_capped`.
            soft_cap: f32 = 30.0 => ScalarRange::POSITIVE;
        }
    }
    faults ["query range outside the tokens", "key range outside its table", "page outside the cache"]
    contracts [&ATTENTION_PREFILL] by |_problem| &ATTENTION_PREFILL;
    cost |problem, specs, dims| {
        // Of sequences that are all alike: which are not is data.
        let [sequences, tokens, rows, max_pages, indices, _] = [0, 1, 2, 3, 4, 5].map(|i| dims.get(i) as u64);
        let page_size = problem.page_size as u64;
        let keys = match problem.keys {
            KeySource::Ragged => rows,
            KeySource::BlockTables => sequences.saturating_mul(max_pages).saturating_mul(page_size),
            KeySource::Indptr => indices.saturating_mul(page_size),
        };
        let each = |all: u64| all / sequences.max(1);
        let pairs = visible(each(tokens), each(keys), problem.causal, problem.sliding_window).saturating_mul(sequences);
        let heads = Heads {
            queries: problem.num_heads,
            keys: problem.num_kv_heads,
            width: problem.head_dim,
            width_v: problem.head_dim_v,
            bits: problem.cache_format.dtype(problem.dtype).bits(),
        };
        cost(&heads, specs, dims, keys, pairs)
    };
}

/// Pairs of a query and a key that it sees.
fn visible(queries: u64, keys: u64, causal: bool, window: Option<NonZero<usize>>) -> u64 {
    let window = window.map_or(u64::MAX, |w| w.get() as u64);
    if !causal {
        return queries.saturating_mul(keys);
    }
    // The last query sees all keys or its window, and each before it one less, until there is none.
    let last = keys.min(window);
    let shorter = keys.saturating_sub(window);
    let full = queries.min(shorter);
    let rest = (queries - full).min(last);
    full.saturating_mul(last).saturating_add(rest.saturating_mul(2 * last - rest + 1) / 2)
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<AttentionPrefill>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.attention_prefill.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.attention_prefill.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.attention_prefill.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.attention_prefill", solution: "cpu.reference", libraries: &[] },
    ],
);
