// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Paged attention: a cache, offsets of `batch + 1`, lengths on the host, an optional output, workspace, faults.

use opweave_contract::{Cost, Legal, OpContract, Relation, ScalarRange, operator};
use opweave_tensor::DType;

use super::contract;

/// The contract of attention.
pub static ATTENTION: OpContract = contract("test_attention", "");

operator! {
    /// Attention of one token of each sequence over a paged cache.
    pub TestAttention = "test_attention";
    problem TestAttentionProblem {
        required {
            /// Heads of the query.
            num_heads: usize => Legal::Range(1, 1024);
            /// Heads of the cache.
            num_kv_heads: usize => Legal::Range(1, 1024);
            /// Elements of a head.
            head_dim: usize => Legal::Ints(&[64, 80, 128, 256]);
            /// dtype of the query, the cache and the result.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::BF16]);
        }
        optional {
            /// Slots of a page.
            page_size: usize = 16 => Legal::Range(1, 4096);
            /// dtype of `lse`.
            lse_dtype: Option<DType> = None => Legal::DTypes(&[DType::F32]);
            /// Whether later slots are masked.
            causal: bool = true => Legal::Any;
        }
        relations [Relation::Divides("num_heads", "num_kv_heads")]
    }
    dims {
        /// Sequences.
        batch >= 0;
        /// Pages of the cache.
        pages >= 1;
    }
    args TestAttentionArgs {
        tensors {
            /// One token of each sequence.
            query: In [batch strided, num_heads, head_dim] of dtype;
            /// Keys and values.
            cache: In [pages strided, page_size, num_kv_heads, head_dim] of dtype;
            /// Offsets of the sequences.
            indptr: In [(batch + 1)] of DType::I32;
            /// One slot of each sequence.
            slots: In [batch] of DType::I32;
            /// Lengths on the host, as a hint.
            lengths: Host [batch] of DType::I32;
            /// The result.
            out: Out [batch strided, num_heads, head_dim] of dtype;
            /// Log-sum-exp of each head.
            lse: OptionalOut [batch, num_heads] of lse_dtype;
        }
        scalars {
            /// Factor of the scores.
            softmax_scale: f32 = 0.125 => ScalarRange::POSITIVE;
        }
    }
    faults ["slot outside the cache"]
    contracts [&ATTENTION] by |_problem| &ATTENTION;
    cost |problem, specs, dims| Cost::streaming(
        specs, dims, (4 * dims.get(0) * problem.num_heads * problem.head_dim) as u64,
    );
}
