// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization with a scale that is known beforehand.

use opweave_tensor::DType;

use super::{CODES, I8_RANGES, QUOTIENT_ROUNDING, mode};
use crate::ops::normalization::{ACTIVATIONS, WIDTHS};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, operator};

/// `quantize_per_tensor`: an f32 division, then one rounding to a code.
pub static QUANTIZE_PER_TENSOR: OpContract = OpContract {
    operation: "quantize_per_tensor",
    version: 1,
    mutates: &[],
    aliases: &[],
    numerical_mode: mode("", &[QUOTIENT_ROUNDING]),
};

operator! {
    /// `out = saturate(round(input / scale) + zero_point)`, element by element.
    ///
    /// Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
    /// 2018; for 8-bit floats Micikevicius et al., "FP8 Formats for Deep Learning", 2022.
    pub QuantizePerTensor = "quantize_per_tensor";
    problem QuantizePerTensorProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `out`.
            output_dtype: DType = DType::F8E4M3 => Legal::DTypes(CODES);
            /// dtype of `zero_point`; none for a zero point of 0.
            zero_point_dtype: Option<DType> = None => Legal::DTypes(&[DType::I32]);
            /// The largest magnitude of a code: i8 codes lie in -127..=127 or -128..=127. Nothing to 8-bit floats.
            i8_range: usize = 128 => Legal::Ints(I8_RANGES);
        }
        relations [Relation::OnlyWith("zero_point_dtype", "output_dtype", &[DType::I8])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args QuantizePerTensorArgs {
        tensors {
            /// What is quantised.
            input: In [tokens strided, hidden_size] of dtype;
            /// The scale: finite and above 0.
            scale: In [1] of DType::F32;
            /// The code of zero, in -128..=127.
            zero_point: OptionalIn [1] of zero_point_dtype;
            /// The codes.
            out: Out [tokens strided, hidden_size] of output_dtype;
        }
        scalars {}
    }
    faults ["scale not finite and positive", "zero point outside -128..=127"]
    contracts [&QUANTIZE_PER_TENSOR] by |_problem| &QUANTIZE_PER_TENSOR;
    cost |problem, specs, dims| Cost::streaming(specs, dims, 2 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<QuantizePerTensor>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.quantize_per_tensor.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.quantize_per_tensor.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.quantize_per_tensor.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.quantize_per_tensor", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.quantize_per_tensor", solution: "cuda.native", libraries: &[] },
    ],
);
