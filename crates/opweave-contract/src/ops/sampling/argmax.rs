// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The index of the largest element.

use opweave_tensor::DType;

use crate::ops::normalization::ACTIVATIONS;
use crate::{
    Cost, Erased, ImplementationDecl, Legal, NumericalMode, OpContract, OperationDecl, Relation, Saturation, choice,
    operator,
};

choice! {
    /// Where NaN stands in the order of numbers.
    pub enum NanOrder {
        /// Below all of them: a NaN is taken only where there is nothing else.
        Last = "last",
        /// Above all of them: the first NaN is taken (PyTorch).
        First = "first",
    }
}

/// `argmax`: comparisons alone.
pub static ARGMAX: OpContract = OpContract {
    operation: "argmax",
    version: 1,
    mutates: &[],
    aliases: &[],
    numerical_mode: NumericalMode {
        name: "",
        accumulation: DType::F32,
        roundings: &[],
        weight_multiply: None,
        saturation: Saturation::None,
    },
};

operator! {
    /// `out` = the smallest index of the largest element, row by row: greedy sampling.
    pub Argmax = "argmax";
    problem ArgmaxProblem {
        required {
            /// Elements of a row.
            vocab_size: usize => Legal::Range(1, 1 << 30);
            /// dtype of `logits`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// Elements of a row that are looked at, where the rest is padding; none for all.
            valid_size: Option<usize> = None => Legal::Range(1, 1 << 30);
            /// dtype of `out`.
            index_dtype: DType = DType::I64 => Legal::DTypes(&[DType::I32, DType::I64, DType::U32]);
            /// Where NaN stands in the order of numbers.
            nan: NanOrder = NanOrder::Last => Legal::Any;
        }
        relations [Relation::AtMost("valid_size", "vocab_size")]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args ArgmaxArgs {
        tensors {
            /// What is compared.
            logits: In [tokens strided, vocab_size] of dtype;
            /// The index in each row.
            out: Out [tokens] of index_dtype;
        }
        scalars {}
    }
    faults []
    contracts [&ARGMAX] by |_problem| &ARGMAX;
    cost |problem, specs, dims| Cost::streaming(specs, dims, (dims.get(0) * problem.vocab_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<Argmax>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.argmax.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.argmax.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.argmax.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.argmax", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.argmax", solution: "cuda.native", libraries: &[] },
        ImplementationDecl { name: "npu.aclnn.argmax", solution: "npu.aclnn", libraries: &[crate::LibraryDecl::CANN] },
    ],
);
