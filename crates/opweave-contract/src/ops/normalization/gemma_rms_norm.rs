// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization with Gemma's scale.

use opweave_tensor::DType;

use super::{ACTIVATIONS, NORMALISED_ROUNDING, WIDTHS, WeightMultiply, mode};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, OpContract, OperationDecl, Relation, ScalarRange, operator,
};

/// `gemma_rms_norm` with one rounding.
pub static GEMMA_RMS_NORM_F32: OpContract = OpContract {
    operation: "gemma_rms_norm",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: mode("weight_multiply=f32", &[], Some(MultiplyIn::F32)),
};

/// `gemma_rms_norm` with the scale, still formed in f32, multiplied after rounding.
pub static GEMMA_RMS_NORM_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode("weight_multiply=after_rounding", &[NORMALISED_ROUNDING], Some(MultiplyIn::F32)),
    ..GEMMA_RMS_NORM_F32
};

operator! {
    /// `out = input * rsqrt(mean(input^2) + epsilon) * (1 + weight)`, row by row.
    ///
    /// The scale `1 + weight` is formed in f32 in every mode: in bf16 it would lose the weight's low bits. A weight
    /// that already contains the one belongs to `rms_norm`.
    ///
    /// Gemma Team, "Gemma: Open Models Based on Gemini Research and Technology", 2024; the scale is that of its
    /// published model code.
    pub GemmaRmsNorm = "gemma_rms_norm";
    problem GemmaRmsNormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32.
            weight_dtype: DType = dtype => Legal::DTypes(ACTIVATIONS);
            /// Whether the normalised value is rounded before the scale multiplies it.
            weight_multiply: WeightMultiply = WeightMultiply::F32 => Legal::Any;
        }
        relations [Relation::SameOr("weight_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args GemmaRmsNormArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// Scale of each column, less one.
            weight: In [hidden_size] of weight_dtype;
            /// The result.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [&GEMMA_RMS_NORM_F32, &GEMMA_RMS_NORM_AFTER_ROUNDING] by |problem| match problem.weight_multiply {
        WeightMultiply::F32 => &GEMMA_RMS_NORM_F32,
        WeightMultiply::AfterRounding => &GEMMA_RMS_NORM_AFTER_ROUNDING,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 4 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<GemmaRmsNorm>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.gemma_rms_norm.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.gemma_rms_norm.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.gemma_rms_norm.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.gemma_rms_norm", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.gemma_rms_norm", solution: "cuda.native", libraries: &[] },
    ],
);
