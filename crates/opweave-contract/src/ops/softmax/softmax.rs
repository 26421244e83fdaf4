// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Softmax over the columns of each row.

use opweave_tensor::DType;

use super::{WIDTHS, contract, cost};
use crate::ops::normalization::ACTIVATIONS;
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `softmax`: computed in f32, rounded once.
pub static SOFTMAX: OpContract = contract("softmax");

operator! {
    /// `out = e^(x - m) / sum(e^(x - m))` with `x = input / temperature` and `m = max(x)`, row by row.
    ///
    /// Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs", 1990; shifted by the maximum
    /// so that nothing overflows.
    pub Softmax = "softmax";
    problem SoftmaxProblem {
        required {
            /// Elements of a row.
            width: usize => WIDTHS;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `out`: that of `input` or f32.
            out_dtype: DType = dtype => Legal::DTypes(ACTIVATIONS);
        }
        relations [Relation::SameOr("out_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args SoftmaxArgs {
        tensors {
            /// The logits.
            input: In [tokens strided, width] of dtype;
            /// The result.
            out: Out [tokens strided, width] aliases [input] of out_dtype;
        }
        scalars {
            /// What the logits are divided by; 1 leaves them as they are.
            temperature: f32 = 1.0 => ScalarRange::POSITIVE;
        }
    }
    faults []
    contracts [&SOFTMAX] by |_problem| &SOFTMAX;
    cost |problem, specs, dims| cost(specs, dims, problem.width);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<Softmax>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.softmax.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.softmax.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.softmax.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.softmax", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.softmax", solution: "cuda.native", libraries: &[] },
        ImplementationDecl { name: "npu.aclnn.softmax", solution: "npu.aclnn", libraries: &[crate::LibraryDecl::CANN] },
    ],
);
