// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of a table, by index.

use opweave_tensor::DType;

use crate::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, Relation, Saturation, operator,
};

/// `embedding`: a copy.
pub static EMBEDDING: OpContract = OpContract {
    operation: "embedding",
    version: 1,
    mutates: &[],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

/// The fault of `embedding`.
pub const ID_OUTSIDE_THE_VOCABULARY: &str = "id outside the vocabulary";

operator! {
    /// `out[t] = table[ids[t] - shard_start]` where `shard_start <= ids[t] < shard_end`, else zeros.
    ///
    /// The vocabulary is `0..vocab_size`, whatever part of it the table holds. An id inside it that belongs to another
    /// shard gives zeros, to be summed with the other shards' rows; an id outside it gives zeros and a fault.
    ///
    /// Megatron-LM's vocabulary-parallel embedding (Shoeybi and others, 2019) for the shards.
    pub Embedding = "embedding";
    problem EmbeddingProblem {
        required {
            /// Ids that exist: `0..vocab_size`.
            vocab_size: usize => Legal::Range(1, 1 << 31);
            /// Elements of a row.
            hidden_size: usize => Legal::Range(1, 1 << 30);
            /// dtype of `table` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// dtype of `ids`.
            id_dtype: DType = DType::I32 => Legal::DTypes(&[DType::I32, DType::I64, DType::U32]);
            /// The first id of the table.
            shard_start: usize = 0 => Legal::Range(0, 1 << 31);
            /// One past the last id of the table.
            shard_end: usize = vocab_size => Legal::Range(0, 1 << 31);
        }
        relations [Relation::AtMost("shard_start", "shard_end"), Relation::AtMost("shard_end", "vocab_size")]
    }
    dims {
        /// Ids.
        tokens >= 0;
    }
    args EmbeddingArgs {
        tensors {
            /// The id of each row of `out`.
            ids: In [tokens] of id_dtype;
            /// A row for each id of the shard.
            table: In [(shard_end.saturating_sub(shard_start)) strided, hidden_size] of dtype;
            /// The rows.
            out: Out [tokens strided, hidden_size] of dtype;
        }
        scalars {}
    }
    faults ["id outside the vocabulary"]
    contracts [&EMBEDDING] by |_problem| &EMBEDDING;
    cost |_problem, specs, dims| {
        // Of the table, the rows that are asked for.
        let [ids, _, out] = [0, 1, 2].map(|i| specs.tensor(i).map_or(0, |spec| spec.bytes(dims) as u64));
        Cost { bytes_read: ids.saturating_add(out), bytes_written: out, flops: 0 }
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<Embedding>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.embedding.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.embedding.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.embedding.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.embedding", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.embedding", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.embedding",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
    ],
);
