// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! SiLU of one half of a row, times the other half.

use opweave_tensor::DType;

use super::{ActivationProduct, Halves, WIDTHS, contract, cost};
use crate::ops::normalization::ACTIVATIONS;
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, operator};

/// `silu_and_mul`: activation and product in f32, one rounding.
pub static SILU_AND_MUL_F32: OpContract = contract("silu_and_mul", ActivationProduct::F32);

/// `silu_and_mul`: the activation is rounded before the product.
pub static SILU_AND_MUL_ROUNDED: OpContract = contract("silu_and_mul", ActivationProduct::RoundedActivation);

operator! {
    /// `out = gate / (1 + e^-gate) * up`, element by element.
    ///
    /// SwiGLU: Shazeer, "GLU Variants Improve Transformer", 2020; the activation is that of Elfwing and others, 2017.
    pub SiluAndMul = "silu_and_mul";
    problem SiluAndMulProblem {
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
    args SiluAndMulArgs {
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
    contracts [&SILU_AND_MUL_F32, &SILU_AND_MUL_ROUNDED] by |problem| match problem.activation_product {
        ActivationProduct::F32 => &SILU_AND_MUL_F32,
        ActivationProduct::RoundedActivation => &SILU_AND_MUL_ROUNDED,
    };
    cost |problem, specs, dims| cost(specs, dims, problem.intermediate_size);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<SiluAndMul>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.silu_and_mul.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.silu_and_mul.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.silu_and_mul.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.silu_and_mul", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.silu_and_mul", solution: "cuda.native", libraries: &[] },
        ImplementationDecl {
            name: "npu.aclnn.silu_and_mul",
            solution: "npu.aclnn",
            libraries: &[crate::LibraryDecl::CANN],
        },
        ImplementationDecl { name: "npu.ascendc.silu_and_mul", solution: "npu.ascendc", libraries: &[] },
    ],
);
