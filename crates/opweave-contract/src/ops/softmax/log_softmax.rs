// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The logarithm of softmax over the columns of each row.

use opweave_tensor::DType;

use super::{WIDTHS, contract, cost};
use crate::ops::normalization::ACTIVATIONS;
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `log_softmax`: computed in f32, rounded once.
pub static LOG_SOFTMAX: OpContract = contract("log_softmax");

operator! {
    /// `out = (x - m) - ln(sum(e^(x - m)))` with `x = input / temperature` and `m = max(x)`, row by row.
    ///
    /// The logarithm of [`Softmax`](super::Softmax), whose own would be lost where that is near 0 or 1. Shifted by the
    /// maximum first: the log of the sum added to a large maximum would vanish in it.
    pub LogSoftmax = "log_softmax";
    problem LogSoftmaxProblem {
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
    args LogSoftmaxArgs {
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
    contracts [&LOG_SOFTMAX] by |_problem| &LOG_SOFTMAX;
    cost |problem, specs, dims| cost(specs, dims, problem.width);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<LogSoftmax>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.log_softmax.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.log_softmax.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.log_softmax.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.log_softmax", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.log_softmax", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.log_softmax",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
    ],
);
