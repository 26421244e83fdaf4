// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A linear layer: a packed weight, buckets of tokens, an optional bias.

use opweave_contract::{Cost, Legal, OpContract, ScalarRange, choice, operator};
use opweave_tensor::DType;

use super::contract;

choice! {
    /// How the rows of the test pack their weight.
    pub enum Packing {
        /// All in one way.
        Shared = "shared",
        /// The small one in its own way.
        Apart = "apart",
    }
}

/// The contract of the linear layer.
pub static LINEAR: OpContract = contract("test_linear", "");

operator! {
    /// A linear layer.
    pub TestLinear = "test_linear";
    problem TestLinearProblem {
        required {
            /// Columns of `input`.
            in_features: usize => Legal::Range(1, 1 << 20);
            /// Columns of `out`.
            out_features: usize => Legal::Range(1, 1 << 20);
            /// dtype of `input`, `weight` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::BF16]);
        }
        optional {
            /// dtype of `bias`.
            bias_dtype: Option<DType> = None => Legal::DTypes(&[DType::F32, DType::BF16]);
            /// How the test's rows pack.
            packing: Packing = Packing::Shared => Legal::Any;
        }
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args TestLinearArgs {
        tensors {
            /// Rows.
            input: In [tokens strided, in_features] of dtype;
            /// The weight.
            weight: Packed [out_features, in_features] of dtype;
            /// Added to each row.
            bias: OptionalIn [out_features] of bias_dtype;
            /// The result.
            out: Out [tokens strided, out_features] of dtype;
        }
        scalars {
            /// A factor of the product.
            alpha: f32 = 1.0 => ScalarRange::FINITE;
        }
    }
    faults []
    contracts [&LINEAR] by |_problem| &LINEAR;
    cost |problem, specs, dims| Cost::streaming(
        specs, dims, (2 * dims.get(0) * problem.in_features * problem.out_features) as u64,
    );
}
