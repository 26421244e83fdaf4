// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A norm: rows, an optional weight, an alias, two modes.

use opweave_contract::{Cost, Legal, OpContract, Relation, ScalarRange, choice, operator};
use opweave_tensor::DType;

use super::contract;

choice! {
    /// Where the value is rounded.
    pub enum NormMode {
        /// Once.
        Fast = "fast",
        /// Twice.
        Exact = "exact",
    }
}

/// The norm that rounds once.
pub static FAST: OpContract = OpContract { aliases: &[("out", "input")], ..contract("test_norm", "mode=fast") };
/// The norm that rounds twice.
pub static EXACT: OpContract = OpContract { aliases: &[("out", "input")], ..contract("test_norm", "mode=exact") };

operator! {
    /// A norm of rows.
    pub TestNorm = "test_norm";
    problem TestNormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => Legal::Range(1, 1 << 20);
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(&[DType::F32, DType::F16, DType::BF16]);
        }
        optional {
            /// dtype of `weight`.
            weight_dtype: Option<DType> = None => Legal::DTypes(&[DType::F32, DType::BF16]);
            /// Where the value is rounded.
            mode: NormMode = NormMode::Fast => Legal::Any;
        }
        relations [Relation::SameOr("weight_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args TestNormArgs {
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
    contracts [&FAST, &EXACT] by |problem| match problem.mode {
        NormMode::Fast => &FAST,
        NormMode::Exact => &EXACT,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, (4 * dims.get(0) * problem.hidden_size) as u64);
}
