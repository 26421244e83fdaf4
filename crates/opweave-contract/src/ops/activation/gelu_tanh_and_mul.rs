// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GELU with a hyperbolic tangent of one half of a row, times the other half.

use opweave_tensor::DType;

use super::{ActivationProduct, Halves, WIDTHS, contract, cost};
use crate::ops::normalization::ACTIVATIONS;
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, operator};

/// `gelu_tanh_and_mul`: activation and product in f32, one rounding.
pub static GELU_TANH_AND_MUL_F32: OpContract = contract("gelu_tanh_and_mul", ActivationProduct::F32);

/// `gelu_tanh_and_mul`: the activation is rounded before the product.
pub static GELU_TANH_AND_MUL_ROUNDED: OpContract = contract("gelu_tanh_and_mul", ActivationProduct::RoundedActivation);

operator! {
    /// `out = gate / 2 * (1 + tanh(sqrt(2 / pi) * (gate + 0.044715 * gate^3))) * up`, element by element.
    ///
    /// GEGLU: Shazeer, "GLU Variants Improve Transformer", 2020; the activation is the approximation of Hendrycks and
    /// Gimpel, 2016.
    pub GeluTanhAndMul = "gelu_tanh_and_mul";
    problem GeluTanhAndMulProblem {
        required {
            /// Elements of a row of the result, and of each half.
            intermediate_size: usize => WIDTHS;
            /// dtype of all tensors.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// Whether gate and up stand in one row or in two tensors.
            halves: Halves = Halves::Packed => Legal::Any;
            /// Whether the activation is rounded before the product.
            activation_product: ActivationProduct = ActivationProduct::F32 => Legal::Any;
        }
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args GeluTanhAndMulArgs {
        tensors {
            /// Packed: gate and up, one after the other in each row. Separate: the gate.
            input: In [tokens strided, (halves.columns(intermediate_size))] of dtype;
            /// What multiplies the activation, if it is not behind the gate in `input`.
            up: OptionalIn [tokens strided, intermediate_size] of halves.up(dtype);
            /// The product.
            out: Out [tokens strided, intermediate_size] of dtype;
        }
        scalars {}
    }
    faults []
    contracts [&GELU_TANH_AND_MUL_F32, &GELU_TANH_AND_MUL_ROUNDED] by |problem| match problem.activation_product {
        ActivationProduct::F32 => &GELU_TANH_AND_MUL_F32,
        ActivationProduct::RoundedActivation => &GELU_TANH_AND_MUL_ROUNDED,
    };
    cost |problem, specs, dims| cost(specs, dims, problem.intermediate_size);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<GeluTanhAndMul>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.gelu_tanh_and_mul.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.gelu_tanh_and_mul.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.gelu_tanh_and_mul.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.gelu_tanh_and_mul", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.gelu_tanh_and_mul", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.gelu_tanh_and_mul",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
    ],
);
