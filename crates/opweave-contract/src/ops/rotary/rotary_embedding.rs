// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rotary position embedding of queries and keys, in place.

use opweave_tensor::DType;

use super::{HEADS, ROTARY_DIMS, RotaryStyle};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, Relation, RoundTo, Rounding,
    Saturation, choice, operator,
};

choice! {
    /// Where the products of a turn are rounded.
    pub enum Products {
        /// Nowhere: one rounding of the result (FlashInfer).
        F32 = "f32",
        /// Sine, cosine, both products and their sum are each rounded to the dtype (vLLM, Transformers).
        Rounded = "rounded",
    }
}

/// `rotary_embedding`: computed in f32, rounded once.
pub static ROTARY_EMBEDDING_F32: OpContract = OpContract {
    operation: "rotary_embedding",
    version: 1,
    mutates: &["q", "k"],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "products=f32",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

/// `rotary_embedding`: each operation in the dtype of the activation.
pub static ROTARY_EMBEDDING_ROUNDED: OpContract = OpContract {
    numerical_mode: NumericalMode {
        name: "products=rounded",
        roundings: &[
            Rounding { value: "sine and cosine", to: RoundTo::Activation },
            Rounding { value: "products", to: RoundTo::Activation },
        ],
        ..ROTARY_EMBEDDING_F32.numerical_mode
    },
    ..ROTARY_EMBEDDING_F32
};

operator! {
    /// `a, b = a * cos - b * sin, b * cos + a * sin` for each pair `a, b` among the first `rotary_dim` features of
    /// every head, with the cosines and sines of the token's position; the other features stay.
    ///
    /// Row `p` of `cos_sin_cache` holds `rotary_dim / 2` cosines and then as many sines. A token whose position has no
    /// row is left as it is, which is a fault.
    ///
    /// Su and others, "RoFormer", 2021. The pairs are those of `style`.
    pub RotaryEmbedding = "rotary_embedding";
    problem RotaryEmbeddingProblem {
        required {
            /// Heads of `q`.
            num_heads: usize => HEADS;
            /// Heads of `k`.
            num_kv_heads: usize => HEADS;
            /// Features of a head.
            head_dim: usize => Legal::Range(1, 1 << 16);
            /// Features that are turned, from the first on.
            rotary_dim: usize => ROTARY_DIMS;
            /// dtype of `q` and `k`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// dtype of `k`; none where only queries are turned.
            key_dtype: Option<DType> = Some(dtype) => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
            /// dtype of `cos_sin_cache`: f32 or that of `q`.
            cache_dtype: DType = DType::F32 => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
            /// dtype of `positions`.
            position_dtype: DType = DType::I64 => Legal::DTypes(&[DType::I32, DType::I64]);
            /// Which features form a pair.
            style: RotaryStyle = RotaryStyle::Neox => Legal::Any;
            /// Where products are rounded.
            products: Products = Products::F32 => Legal::Any;
        }
        relations [
            Relation::AtMost("rotary_dim", "head_dim"),
            Relation::SameOr("key_dtype", "dtype", &[]),
            Relation::SameOr("cache_dtype", "dtype", &[DType::F32]),
        ]
    }
    dims {
        /// Rows of `q`, `k` and `positions`.
        tokens >= 0;
        /// Positions that the cache has.
        max_position >= 0;
    }
    args RotaryEmbeddingArgs {
        tensors {
            /// The position of each token.
            positions: In [tokens] of position_dtype;
            /// Queries.
            q: InOut [tokens strided, num_heads free, head_dim] of dtype;
            /// Keys.
            k: OptionalInOut [tokens strided, num_kv_heads free, head_dim] of key_dtype;
            /// Cosines and sines of each position.
            cos_sin_cache: In [max_position strided, rotary_dim] of cache_dtype;
        }
        scalars {}
    }
    faults ["position outside the cache"]
    contracts [&ROTARY_EMBEDDING_F32, &ROTARY_EMBEDDING_ROUNDED] by |problem| match problem.products {
        Products::F32 => &ROTARY_EMBEDDING_F32,
        Products::Rounded => &ROTARY_EMBEDDING_ROUNDED,
    };
    cost |problem, specs, dims| {
        // Of each head the turned features, and a row of the cache for each token, once.
        let keys = if problem.key_dtype.is_some() { problem.num_kv_heads } else { 0 };
        let heads = (problem.num_heads + keys) as u64;
        let turned = (dims.get(0) * problem.rotary_dim) as u64;
        let moved = (turned * heads).saturating_mul(problem.dtype.bits() as u64 / 8);
        let angles = turned * (problem.cache_dtype.bits() as u64 / 8);
        let positions = specs.tensor(0).map_or(0, |spec| spec.bytes(dims) as u64);
        Cost { bytes_read: moved + angles + positions, bytes_written: moved, flops: 3 * turned * heads }
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<RotaryEmbedding>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.rotary_embedding.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rotary_embedding.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rotary_embedding.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.rotary_embedding", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.rotary_embedding", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.rotary_embedding",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
        ImplementationDecl { name: "npu.ascendc.rotary_embedding", solution: "npu.ascendc", libraries: &[] },
    ],
);
