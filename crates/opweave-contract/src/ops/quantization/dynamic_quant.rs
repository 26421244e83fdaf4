// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization of each row with a scale of its own.

use opweave_tensor::DType;

use super::{CODES, I8_RANGES, QUOTIENT_ROUNDING, SCALE_ROUNDING, ScaleFormat, mode};
use crate::ops::normalization::{ACTIVATIONS, WIDTHS};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, ScalarRange, operator};

/// `dynamic_quant`: two f32 divisions, each rounded, then one rounding to a code.
pub static DYNAMIC_QUANT: OpContract = OpContract {
    operation: "dynamic_quant",
    version: 1,
    mutates: &[],
    aliases: &[],
    numerical_mode: mode("", &[SCALE_ROUNDING, QUOTIENT_ROUNDING]),
};

operator! {
    /// `scale = max(abs(input)) / largest code`, then `out = saturate(round(input / scale))`, row by row.
    ///
    /// Dettmers et al., "LLM.int8(): 8-bit Matrix Multiplication for Transformers at Scale", 2022, section 2; for 8-bit
    /// floats Micikevicius et al., "FP8 Formats for Deep Learning", 2022.
    pub DynamicQuant = "dynamic_quant";
    problem DynamicQuantProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `out`. The largest code is 448, 57344 or 127.
            output_dtype: DType = DType::F8E4M3 => Legal::DTypes(CODES);
            /// The largest magnitude of a code: i8 codes lie in -127..=127 or -128..=127. Nothing to 8-bit floats.
            i8_range: usize = 127 => Legal::Ints(I8_RANGES);
            /// How scales are stored; a power of two is rounded up.
            scale_format: ScaleFormat = ScaleFormat::F32 => Legal::Any;
        }
        relations []
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args DynamicQuantArgs {
        tensors {
            /// What is quantised.
            input: In [tokens strided, hidden_size] of dtype;
            /// The codes.
            out: Out [tokens strided, hidden_size] of output_dtype;
            /// The scale of each row.
            scale: Out [tokens] of scale_format;
        }
        scalars {
            /// The smallest scale; 0 for none.
            scale_floor: f32 = 0.0 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [&DYNAMIC_QUANT] by |_problem| &DYNAMIC_QUANT;
    cost |problem, specs, dims| Cost::streaming(specs, dims, 4 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<DynamicQuant>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.dynamic_quant.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.dynamic_quant.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.dynamic_quant.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.dynamic_quant", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.dynamic_quant", solution: "cuda.native", libraries: &[] },
        ImplementationDecl { name: "npu.ascendc.dynamic_quant", solution: "npu.ascendc", libraries: &[] },
    ],
);
