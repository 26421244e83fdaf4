// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A linear layer with a weight in floating point.

use opweave_tensor::DType;

use super::{IN_FEATURES, LinearActivation, OUT_FEATURES, WeightForm, cost, mode};
use crate::ops::normalization::ACTIVATIONS;
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, operator};

/// `linear`: summed in f32, bias and activation in f32, rounded once.
pub static LINEAR: OpContract =
    OpContract { operation: "linear", version: 1, mutates: &[], aliases: &[], numerical_mode: mode("", &[]) };

operator! {
    /// `out = activation(input weight^T + bias)`, row by row: `out[t, n]` is the sum over `k` of `input[t, k] * weight[n, k]`.
    ///
    /// Factors are widened to f32, never narrowed: f32 is true f32. Goodfellow, Bengio and Courville, "Deep Learning", 2016,
    /// chapter 6; for the activations Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", 2016.
    pub Linear = "linear";
    problem LinearProblem {
        required {
            /// Columns of `input`; without any, `out` is the activation of the bias.
            in_features: usize => IN_FEATURES;
            /// Columns of `out`, rows of `weight`.
            out_features: usize => OUT_FEATURES;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`.
            weight_dtype: DType = dtype => Legal::DTypes(ACTIVATIONS);
            /// dtype of `bias`; none for no bias.
            bias_dtype: Option<DType> = None => Legal::DTypes(ACTIVATIONS);
            /// dtype of `out`, such as f32 for logits.
            output_dtype: DType = dtype => Legal::DTypes(ACTIVATIONS);
            /// What is done to the sum before it is rounded.
            activation: LinearActivation = LinearActivation::None => Legal::Any;
            /// Whether the plan may have the weight packed.
            weight_form: WeightForm = WeightForm::Packed => Legal::Any;
        }
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args LinearArgs {
        tensors {
            /// Rows.
            input: In [tokens strided, in_features] of dtype;
            /// A row for each column of `out`.
            weight: Packed [out_features strided, in_features] of weight_dtype;
            /// Added to each row.
            bias: OptionalIn [out_features] of bias_dtype;
            /// The results.
            out: Out [tokens strided, out_features] of output_dtype;
        }
        scalars {}
    }
    faults []
    contracts [&LINEAR] by |_problem| &LINEAR;
    cost |problem, specs, dims| cost(specs, dims, problem.in_features, problem.out_features);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<Linear>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.linear.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.linear.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.linear.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.linear", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "npu.aclnn.linear", solution: "npu.aclnn", libraries: &[crate::LibraryDecl::CANN] },
    ],
);
