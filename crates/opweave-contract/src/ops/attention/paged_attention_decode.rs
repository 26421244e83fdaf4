// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One query for each sequence against a paged cache.

use std::num::NonZero;

use opweave_tensor::DType;

use super::{HEAD_DIMS, Heads, LseBase, PageTable, ScoreScale, cost, f32_throughout};
use crate::ops::kv_cache::{CacheFormat, CacheLayout};
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `paged_attention_decode`.
pub static PAGED_ATTENTION_DECODE: OpContract = f32_throughout("paged_attention_decode", &[]);

operator! {
    /// `out[b, h] = sum over j of softmax_j(scale * q[b, h] . k[j]) v[j]` over the keys of sequence `b`, of which the query is the
    /// last.
    ///
    /// Scores are capped before they are masked; sinks join the denominator alone. A sequence without keys gives 0, and a
    /// log-sum-exp of its sink, or of -infinity. A length that the page table does not have is a fault, and its sequence is
    /// taken as empty; a page that the cache does not have is a fault, and its keys are left out.
    ///
    /// Vaswani and others, "Attention is all you need", 2017; Kwon and others, "Efficient memory management for large language
    /// model serving with PagedAttention", 2023.
    pub PagedAttentionDecode = "paged_attention_decode";
    problem PagedAttentionDecodeProblem {
        required {
            /// Heads of queries.
            num_heads: usize => Legal::Range(1, 1 << 16);
            /// Heads of keys and of values; query head `h` attends to key head `h / (num_heads / num_kv_heads)`.
            num_kv_heads: usize => Legal::Range(1, 1 << 16);
            /// Features of a query and of a key.
            head_dim: usize => Legal::Ints(HEAD_DIMS);
            /// Tokens of a page.
            page_size: usize => Legal::Range(1, 1 << 20);
            /// dtype of `q` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// Features of a value.
            head_dim_v: usize = head_dim => Legal::Ints(HEAD_DIMS);
            /// How the pages of a sequence are found.
            page_table: PageTable = PageTable::BlockTables => Legal::Any;
            /// dtype of the page table.
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
        /// Pages that `block_tables` has for each sequence.
        max_pages >= 0;
        /// Pages that `kv_indices` has for all sequences.
        indices >= 0;
        /// Pages of the cache.
        pages >= 0;
    }
    args PagedAttentionDecodeArgs {
        tensors {
            /// The query of each sequence.
            q: In [sequences strided, num_heads strided, head_dim] of dtype;
            /// Pages of keys.
            k_cache: In [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim
            ] of cache_format.dtype(dtype);
            /// Pages of values.
            v_cache: In [
                pages strided,
                (layout.order(page_size, num_kv_heads)[0]),
                (layout.order(page_size, num_kv_heads)[1]),
                head_dim_v
            ] of cache_format.dtype(dtype);
            /// What codes of keys are multiplied by.
            k_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of cache_format.scale_dtype();
            /// What codes of values are multiplied by.
            v_scale: OptionalIn [(cache_format.scales(num_kv_heads))] of cache_format.scale_dtype();
            /// The pages of each sequence, in order.
            block_tables: OptionalIn [sequences strided, max_pages] of page_table.blocks(index_dtype);
            /// Keys of each sequence.
            seq_lens: OptionalIn [sequences] of page_table.blocks(index_dtype);
            /// Where the pages of each sequence begin in `kv_indices`, and where the last one's end.
            kv_indptr: OptionalIn [(sequences + 1)] of page_table.indptr(index_dtype);
            /// The pages of all sequences, one sequence after the other.
            kv_indices: OptionalIn [indices] of page_table.indptr(index_dtype);
            /// Keys in the last page of each sequence.
            last_page_len: OptionalIn [sequences] of page_table.indptr(index_dtype);
            /// A logit of each head that takes part in the denominator and has no value.
            sinks: OptionalIn [num_heads] of sink_dtype;
            /// The result.
            out: Out [sequences strided, num_heads strided, head_dim_v] of dtype;
            /// The logarithm of each denominator.
            lse: OptionalOut [sequences strided, num_heads] of lse_base.map(|_| DType::F32);
        }
        scalars {
            /// What products of queries and keys are multiplied by, if `score_scale` is `given`.
            softmax_scale: f32 = 0.125 => ScalarRange::FINITE;
            /// The bound of the scores, if `soft_capped`.
            soft_cap: f32 = 30.0 => ScalarRange::POSITIVE;
        }
    }
    faults ["key range outside its table", "page outside the cache"]
    contracts [&PAGED_ATTENTION_DECODE] by |_problem| &PAGED_ATTENTION_DECODE;
    cost |problem, specs, dims| {
        // The table says how many keys there are at most; their number is data.
        let [sequences, max_pages, indices, _] = [0, 1, 2, 3].map(|i| dims.get(i) as u64);
        let listed = match problem.page_table {
            PageTable::BlockTables => sequences.saturating_mul(max_pages),
            PageTable::Indptr => indices,
        };
        let keys = listed.saturating_mul(problem.page_size as u64);
        let seen = problem.sliding_window.map_or(u64::MAX, |w| sequences.saturating_mul(w.get() as u64));
        let heads = Heads {
            queries: problem.num_heads,
            keys: problem.num_kv_heads,
            width: problem.head_dim,
            width_v: problem.head_dim_v,
            bits: problem.cache_format.dtype(problem.dtype).bits(),
        };
        cost(&heads, specs, dims, keys.min(seen), keys.min(seen))
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<PagedAttentionDecode>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.paged_attention_decode.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.paged_attention_decode.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl {
            name: "cpu.native.paged_attention_decode.portable",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl { name: "cpu.reference.paged_attention_decode", solution: "cpu.reference", libraries: &[] },
    ],
);
