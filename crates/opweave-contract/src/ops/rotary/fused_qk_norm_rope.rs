// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of query and key heads and rotary embedding of the result, in place in the packed projection.

use opweave_tensor::DType;

use super::{HEADS, ROTARY_DIMS, RotaryStyle};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, NumericalMode, OpContract, OperationDecl, Relation, RoundTo,
    Rounding, Saturation, ScalarRange, choice, operator,
};

choice! {
    /// What the turn sees of a normalised head.
    pub enum Between {
        /// The f32 values: one rounding (vLLM's and TensorRT-LLM's fused kernels).
        F32 = "f32",
        /// The values rounded to the dtype, as of a norm that stored them.
        Rounded = "rounded",
    }
}

/// `fused_qk_norm_rope`: computed in f32, rounded once.
pub static FUSED_QK_NORM_ROPE_F32: OpContract = OpContract {
    operation: "fused_qk_norm_rope",
    version: 1,
    mutates: &["qkv"],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "between=f32",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: Some(MultiplyIn::F32),
        saturation: Saturation::None,
    },
};

/// `fused_qk_norm_rope`: the normalised and weighted head rounded, then turned in f32.
pub static FUSED_QK_NORM_ROPE_ROUNDED: OpContract = OpContract {
    numerical_mode: NumericalMode {
        name: "between=rounded",
        roundings: &[Rounding { value: "normalised head", to: RoundTo::Activation }],
        ..FUSED_QK_NORM_ROPE_F32.numerical_mode
    },
    ..FUSED_QK_NORM_ROPE_F32
};

operator! {
    /// Each query and key head `x` of `qkv` becomes `x * rsqrt(mean(x^2) + epsilon) * weight`, turned as by
    /// `rotary_embedding`; value heads stay.
    ///
    /// A token whose position has no row in the cache is left as it is, not even normalised, which is a fault.
    ///
    /// Zhang and Sennrich, 2019 (the norm); Su and others, "RoFormer", 2021 (the turn); together in the published model
    /// code of Qwen3.
    pub FusedQkNormRope = "fused_qk_norm_rope";
    problem FusedQkNormRopeProblem {
        required {
            /// Query heads.
            num_heads: usize => HEADS;
            /// Key heads.
            num_kv_heads: usize => HEADS;
            /// Features of a head.
            head_dim: usize => Legal::Range(1, 1 << 16);
            /// Features that are turned, from the first on.
            rotary_dim: usize => ROTARY_DIMS;
            /// dtype of `qkv`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// Value heads.
            num_value_heads: usize = num_kv_heads => Legal::Range(0, 1 << 16);
            /// dtype of the weights: that of `qkv` or f32; none for weights of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
            /// dtype of `cos_sin_cache`: f32 or that of `qkv`.
            cache_dtype: DType = DType::F32 => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
            /// dtype of `positions`.
            position_dtype: DType = DType::I64 => Legal::DTypes(&[DType::I32, DType::I64]);
            /// Which features form a pair.
            style: RotaryStyle = RotaryStyle::Neox => Legal::Any;
            /// What the turn sees.
            between: Between = Between::F32 => Legal::Any;
        }
        relations [
            Relation::AtMost("rotary_dim", "head_dim"),
            Relation::SameOr("weight_dtype", "dtype", &[DType::F32]),
            Relation::SameOr("cache_dtype", "dtype", &[DType::F32]),
        ]
    }
    dims {
        /// Rows of `qkv` and `positions`.
        tokens >= 0;
        /// Positions that the cache has.
        max_position >= 0;
    }
    args FusedQkNormRopeArgs {
        tensors {
            /// The position of each token.
            positions: In [tokens] of position_dtype;
            /// Query heads, key heads, value heads of each token.
            qkv: InOut [tokens strided, ((num_heads + num_kv_heads + num_value_heads) * head_dim)] of dtype;
            /// Scale of each feature of a query head.
            q_weight: OptionalIn [head_dim] of weight_dtype;
            /// Scale of each feature of a key head.
            k_weight: OptionalIn [head_dim] of weight_dtype;
            /// Cosines and sines of each position.
            cos_sin_cache: In [max_position strided, rotary_dim] of cache_dtype;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults ["position outside the cache"]
    contracts [&FUSED_QK_NORM_ROPE_F32, &FUSED_QK_NORM_ROPE_ROUNDED] by |problem| match problem.between {
        Between::F32 => &FUSED_QK_NORM_ROPE_F32,
        Between::Rounded => &FUSED_QK_NORM_ROPE_ROUNDED,
    };
    cost |problem, specs, dims| {
        // Query and key heads, both ways; the weights; a row of the cache for each token, once.
        let bytes = |index: usize| specs.tensor(index).filter(|s| s.present).map_or(0, |s| s.bytes(dims) as u64);
        let elements = (dims.get(0) * (problem.num_heads + problem.num_kv_heads) * problem.head_dim) as u64;
        let moved = elements.saturating_mul(problem.dtype.bits() as u64 / 8);
        let angles = (dims.get(0) * problem.rotary_dim) as u64 * (problem.cache_dtype.bits() as u64 / 8);
        let bytes_read = moved + angles + bytes(0) + bytes(2) + bytes(3);
        Cost { bytes_read, bytes_written: moved, flops: 7 * elements }
    };
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<FusedQkNormRope>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.fused_qk_norm_rope.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.fused_qk_norm_rope.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.fused_qk_norm_rope.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.fused_qk_norm_rope", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.fused_qk_norm_rope", solution: "cuda.native", libraries: &[] },
    ],
);
