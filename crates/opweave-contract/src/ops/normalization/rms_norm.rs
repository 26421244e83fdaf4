// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization.

use opweave_tensor::DType;

use super::{ACTIVATIONS, NORMALISED_ROUNDING, WIDTHS, WeightMultiply, mode};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, OpContract, OperationDecl, Relation, ScalarRange, operator,
};

/// `rms_norm` with the weight multiplied in f32.
pub static RMS_NORM_F32: OpContract = OpContract {
    operation: "rms_norm",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: mode("weight_multiply=f32", &[], Some(MultiplyIn::F32)),
};

/// `rms_norm` with the weight multiplied after rounding.
pub static RMS_NORM_AFTER_ROUNDING: OpContract = OpContract {
    numerical_mode: mode("weight_multiply=after_rounding", &[NORMALISED_ROUNDING], Some(MultiplyIn::Activation)),
    ..RMS_NORM_F32
};

operator! {
    /// `out = input * rsqrt(mean(input^2) + epsilon) * weight`, row by row.
    ///
    /// Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.
    pub RmsNorm = "rms_norm";
    problem RmsNormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// Where the weight is multiplied.
            weight_multiply: WeightMultiply = WeightMultiply::F32 => Legal::Any;
        }
        relations [Relation::SameOr("weight_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args RmsNormArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// Scale of each column.
            weight: OptionalIn [hidden_size] of weight_dtype;
            /// The result.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [&RMS_NORM_F32, &RMS_NORM_AFTER_ROUNDING] by |problem| match problem.weight_multiply {
        WeightMultiply::F32 => &RMS_NORM_F32,
        WeightMultiply::AfterRounding => &RMS_NORM_AFTER_ROUNDING,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 4 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<RmsNorm>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.rms_norm.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rms_norm.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rms_norm.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.rms_norm", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.rms_norm", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.rms_norm",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
        ImplementationDecl { name: "npu.ascendc.rms_norm", solution: "npu.ascendc", libraries: &[] },
    ],
);
