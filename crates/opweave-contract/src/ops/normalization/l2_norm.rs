// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Division of rows by their Euclidean norm.

use opweave_tensor::DType;

use super::{ACTIVATIONS, WIDTHS, mode};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, ScalarRange, choice, operator};

choice! {
    /// Where epsilon enters an L2 norm.
    pub enum L2Form {
        /// `input * rsqrt(sum(input^2) + epsilon)` (flash-linear-attention).
        RsqrtSumEps = "rsqrt_sum_eps",
        /// `input / max(norm, epsilon)` (PyTorch's `normalize`).
        MaxNormEps = "max_norm_eps",
    }
}

/// `l2_norm` with epsilon inside the root.
pub static L2_NORM_RSQRT_SUM_EPS: OpContract = OpContract {
    operation: "l2_norm",
    version: 1,
    mutates: &[],
    aliases: &[("out", "input")],
    numerical_mode: mode("form=rsqrt_sum_eps", &[], None),
};

/// `l2_norm` with epsilon as the least divisor.
pub static L2_NORM_MAX_NORM_EPS: OpContract =
    OpContract { numerical_mode: mode("form=max_norm_eps", &[], None), ..L2_NORM_RSQRT_SUM_EPS };

operator! {
    /// `out = input / norm(input)`, row by row, with epsilon where the form says.
    ///
    /// This is not an RMS norm with a scaled weight: there epsilon is added to the mean, here to the sum, a factor of
    /// `hidden_size` apart.
    pub L2Norm = "l2_norm";
    problem L2NormProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input` and `out`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// Where epsilon enters.
            form: L2Form = L2Form::RsqrtSumEps => Legal::Any;
        }
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args L2NormArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// The result.
            out: Out [tokens strided, hidden_size] aliases [input] of dtype;
        }
        scalars {
            /// Added to the sum of squares, or the least divisor.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [&L2_NORM_RSQRT_SUM_EPS, &L2_NORM_MAX_NORM_EPS] by |problem| match problem.form {
        L2Form::RsqrtSumEps => &L2_NORM_RSQRT_SUM_EPS,
        L2Form::MaxNormEps => &L2_NORM_MAX_NORM_EPS,
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 3 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<L2Norm>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.l2_norm.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.l2_norm.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.l2_norm.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.l2_norm", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.l2_norm", solution: "cuda.native", libraries: &[] },
    ],
);
