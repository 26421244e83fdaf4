// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Two parts of one attention, put together.

use opweave_tensor::DType;

use super::{LseBase, f32_throughout};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, operator};

/// `merge_attention_states`.
pub static MERGE_ATTENTION_STATES: OpContract =
    f32_throughout("merge_attention_states", &[("out", "v_a"), ("out", "v_b"), ("lse", "lse_a"), ("lse", "lse_b")]);

operator! {
    /// `lse = log(e^lse_a + e^lse_b)` and `out = e^(lse_a - lse) v_a + e^(lse_b - lse) v_b`: the attention over two disjoint sets of
    /// keys, from the attention over each.
    ///
    /// A state whose `lse` is -infinity is empty. With an empty state, the other is returned bit for bit, whatever the empty one's
    /// values are; two empty states give 0 and -infinity.
    ///
    /// Dao and others, "FlashAttention", 2022, for the decomposition; Ye and others, "FlashInfer", 2025, for the operator.
    pub MergeAttentionStates = "merge_attention_states";
    problem MergeAttentionStatesProblem {
        required {
            /// Heads of queries.
            num_heads: usize => Legal::Range(1, 1 << 16);
            /// Features of a value.
            head_dim_v: usize => Legal::Range(1, 1 << 16);
            /// dtype of `v_a`, `v_b` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// The base of `lse_a`, `lse_b` and `lse`.
            lse_base: LseBase = LseBase::E => Legal::Any;
        }
        relations []
    }
    dims {
        /// Queries.
        tokens >= 0;
    }
    args MergeAttentionStatesArgs {
        tensors {
            /// The result of one part.
            v_a: In [tokens strided, num_heads strided, head_dim_v] of dtype;
            /// The logarithm of its denominator.
            lse_a: In [tokens strided, num_heads] of DType::F32;
            /// The result of the other part.
            v_b: In [tokens strided, num_heads strided, head_dim_v] of dtype;
            /// The logarithm of its denominator.
            lse_b: In [tokens strided, num_heads] of DType::F32;
            /// The result of both.
            out: Out [tokens strided, num_heads strided, head_dim_v] aliases [v_a, v_b] of dtype;
            /// The logarithm of both denominators' sum.
            lse: Out [tokens strided, num_heads] aliases [lse_a, lse_b] of DType::F32;
        }
        scalars {}
    }
    faults []
    contracts [&MERGE_ATTENTION_STATES] by |_problem| &MERGE_ATTENTION_STATES;
    cost |problem, specs, dims| {
        // Two products and a sum of each element.
        Cost::streaming(specs, dims, (dims.get(0) * problem.num_heads * problem.head_dim_v * 3) as u64)
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<MergeAttentionStates>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.merge_attention_states.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.merge_attention_states.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl {
            name: "cpu.native.merge_attention_states.portable",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl { name: "cpu.reference.merge_attention_states", solution: "cpu.reference", libraries: &[] },
    ],
);
