// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Residual add and root-mean-square normalization of the sum.

use opweave_tensor::DType;

use super::{ACTIVATIONS, NORMALISED_ROUNDING, SUM_ROUNDING, Sum, WIDTHS, WeightMultiply, mode};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, OpContract, OperationDecl, Relation, ScalarRange, operator,
};

/// `fused_add_rms_norm`: norm of the f32 sum, weight multiplied in f32.
pub static FUSED_ADD_RMS_NORM_UNROUNDED: OpContract = OpContract {
    operation: "fused_add_rms_norm",
    version: 1,
    mutates: &["residual"],
    aliases: &[("out", "input")],
    numerical_mode: mode("sum=unrounded weight_multiply=f32", &[], Some(MultiplyIn::F32)),
};

/// `fused_add_rms_norm`: norm of the f32 sum, weight multiplied after rounding.
pub static FUSED_ADD_RMS_NORM_UNROUNDED_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode(
        "sum=unrounded weight_multiply=after_rounding",
        &[NORMALISED_ROUNDING],
        Some(MultiplyIn::Activation),
    ),
    ..FUSED_ADD_RMS_NORM_UNROUNDED
};

/// `fused_add_rms_norm`: norm of the stored sum, weight multiplied in f32.
pub static FUSED_ADD_RMS_NORM_ROUNDED: OpContract = OpContract {
    numerical_mode: mode("sum=rounded weight_multiply=f32", &[SUM_ROUNDING], Some(MultiplyIn::F32)),
    ..FUSED_ADD_RMS_NORM_UNROUNDED
};

/// `fused_add_rms_norm`: norm of the stored sum, weight multiplied after rounding.
pub static FUSED_ADD_RMS_NORM_ROUNDED_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode(
        "sum=rounded weight_multiply=after_rounding",
        &[SUM_ROUNDING, NORMALISED_ROUNDING],
        Some(MultiplyIn::Activation),
    ),
    ..FUSED_ADD_RMS_NORM_UNROUNDED
};

operator! {
    /// `residual += input`, then `out = residual * rsqrt(mean(residual^2) + epsilon) * weight`, row by row.
    ///
    /// The sum is rounded to the activation's dtype as it is stored; whether the norm sees it before or after that is
    /// the mode `sum`.
    pub FusedAddRmsNorm = "fused_add_rms_norm";
    problem FusedAddRmsNormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input`, `residual` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// Which sum the norm sees.
            sum: Sum = Sum::Unrounded => Legal::Any;
            /// Where the weight is multiplied.
            weight_multiply: WeightMultiply = WeightMultiply::F32 => Legal::Any;
        }
        relations [Relation::SameOr("weight_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args FusedAddRmsNormArgs {
        tensors {
            /// What is added to the residual.
            input: In [tokens strided, hidden_size] of dtype;
            /// The residual stream; holds the rounded sum afterwards.
            residual: InOut [tokens strided, hidden_size] of dtype;
            /// Scale of each column.
            weight: OptionalIn [hidden_size] of weight_dtype;
            /// The normalised sum.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [
        &FUSED_ADD_RMS_NORM_UNROUNDED,
        &FUSED_ADD_RMS_NORM_UNROUNDED_AFTER_ROUNDING,
        &FUSED_ADD_RMS_NORM_ROUNDED,
        &FUSED_ADD_RMS_NORM_ROUNDED_AFTER_ROUNDING,
    ] by |problem| match (problem.sum, problem.weight_multiply) {
        (Sum::Unrounded, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_UNROUNDED,
        (Sum::Unrounded, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_UNROUNDED_AFTER_ROUNDING,
        (Sum::Rounded, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_ROUNDED,
        (Sum::Rounded, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_ROUNDED_AFTER_ROUNDING,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 5 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<FusedAddRmsNorm>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.fused_add_rms_norm.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.fused_add_rms_norm.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.fused_add_rms_norm.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.fused_add_rms_norm", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.fused_add_rms_norm", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.fused_add_rms_norm",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
        ImplementationDecl { name: "npu.ascendc.fused_add_rms_norm", solution: "npu.ascendc", libraries: &[] },
    ],
);
