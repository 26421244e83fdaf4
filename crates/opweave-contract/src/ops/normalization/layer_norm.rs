// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Layer normalization.

use opweave_tensor::DType;

use super::{ACTIVATIONS, WIDTHS, mode};
use crate::{
    Cost, Erased, ImplementationDecl, Legal, MultiplyIn, OpContract, OperationDecl, Relation, ScalarRange, operator,
};

/// `layer_norm`: everything in f32 and one rounding, in which all engines agree.
pub static LAYER_NORM: OpContract = OpContract {
    operation: "layer_norm",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: mode("", &[], Some(MultiplyIn::F32)),
};

operator! {
    /// `out = (input - mean) * rsqrt(variance + epsilon) * weight + bias`, row by row.
    ///
    /// The variance is the mean of `(input - mean)^2`, never `mean(input^2) - mean^2`, which cancels: in f32 a row of
    /// 10000, 10001, 10002, 10003 has variance 1.25, not 0.
    ///
    /// Ba, Kiros and Hinton, "Layer Normalization", 2016.
    pub LayerNorm = "layer_norm";
    problem LayerNormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// dtype of `bias`: that of the activation or f32; none for a bias of zeros.
            bias_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
        }
        relations [
            Relation::SameOr("weight_dtype", "dtype", &[DType::F32]),
            Relation::SameOr("bias_dtype", "dtype", &[DType::F32]),
        ]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args LayerNormArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// Scale of each column.
            weight: OptionalIn [hidden_size] of weight_dtype;
            /// Added to each column after the scale.
            bias: OptionalIn [hidden_size] of bias_dtype;
            /// The result.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the variance.
            epsilon: f32 = 1e-5 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [&LAYER_NORM] by |_problem| &LAYER_NORM;
    cost |problem, specs, dims| Cost::streaming(specs, dims, 7 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<LayerNorm>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.layer_norm.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.layer_norm.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.layer_norm.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.layer_norm", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.layer_norm", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.layer_norm",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
    ],
);
