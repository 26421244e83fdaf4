// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Root-mean-square normalization, and quantization of the result.

use opweave_tensor::DType;

use super::{ACTIVATIONS, QuantMode, Sum, WIDTHS, WeightMultiply, quantised};
use crate::ops::quantization::{CODES, I8_RANGES, ScaleFormat};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `rms_norm_dynamic_quant`, by `mode` and, within it, by `weight_multiply`.
pub static RMS_NORM_DYNAMIC_QUANT: [OpContract; 4] = [
    contract("mode=composed weight_multiply=f32", QuantMode::Composed, WeightMultiply::F32),
    contract("mode=composed weight_multiply=after_rounding", QuantMode::Composed, WeightMultiply::AfterRounding),
    contract("mode=f32 weight_multiply=f32", QuantMode::F32, WeightMultiply::F32),
    contract("mode=f32 weight_multiply=after_rounding", QuantMode::F32, WeightMultiply::AfterRounding),
];

const fn contract(name: &'static str, values: QuantMode, multiply: WeightMultiply) -> OpContract {
    OpContract {
        operation: "rms_norm_dynamic_quant",
        version: 1,
        mutates: &[],
        aliases: &[],
        // There is no sum that could be rounded.
        numerical_mode: quantised(name, Sum::Unrounded, values, multiply),
    }
}

operator! {
    /// `norm = input * rsqrt(mean(input^2) + epsilon) * weight`, then `scale = max(abs(norm)) / largest code` and
    /// `out = saturate(round(norm / scale))`, row by row.
    ///
    /// Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; Dettmers et al., "LLM.int8(): 8-bit Matrix
    /// Multiplication for Transformers at Scale", 2022.
    pub RmsNormDynamicQuant = "rms_norm_dynamic_quant";
    problem RmsNormDynamicQuantProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// Where the weight is multiplied.
            weight_multiply: WeightMultiply = WeightMultiply::F32 => Legal::Any;
            /// Which values are quantised.
            mode: QuantMode = QuantMode::Composed => Legal::Any;
            /// dtype of `out`. The largest code is 448, 57344 or 127.
            output_dtype: DType = DType::F8E4M3 => Legal::DTypes(CODES);
            /// The largest magnitude of a code: i8 codes lie in -127..=127 or -128..=127. Nothing to 8-bit floats.
            i8_range: usize = 127 => Legal::Ints(I8_RANGES);
            /// How scales are stored; a power of two is rounded up.
            scale_format: ScaleFormat = ScaleFormat::F32 => Legal::Any;
        }
        relations [Relation::SameOr("weight_dtype", "dtype", &[DType::F32])]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args RmsNormDynamicQuantArgs {
        tensors {
            /// What is normalised.
            input: In [tokens strided, hidden_size] of dtype;
            /// Scale of each column.
            weight: OptionalIn [hidden_size] of weight_dtype;
            /// The codes.
            out: Out [tokens strided, hidden_size] of output_dtype;
            /// The scale of each row.
            scale: Out [tokens] of scale_format;
        }
        scalars {
            /// Added to the mean of squares.
            epsilon: f32 = 1e-6 => ScalarRange::NON_NEGATIVE;
            /// The smallest scale; 0 for none.
            scale_floor: f32 = 0.0 => ScalarRange::NON_NEGATIVE;
        }
    }
    faults []
    contracts [
        &RMS_NORM_DYNAMIC_QUANT[0], &RMS_NORM_DYNAMIC_QUANT[1], &RMS_NORM_DYNAMIC_QUANT[2], &RMS_NORM_DYNAMIC_QUANT[3],
    ] by |problem| match (problem.mode, problem.weight_multiply) {
        (QuantMode::Composed, WeightMultiply::F32) => &RMS_NORM_DYNAMIC_QUANT[0],
        (QuantMode::Composed, WeightMultiply::AfterRounding) => &RMS_NORM_DYNAMIC_QUANT[1],
        (QuantMode::F32, WeightMultiply::F32) => &RMS_NORM_DYNAMIC_QUANT[2],
        (QuantMode::F32, WeightMultiply::AfterRounding) => &RMS_NORM_DYNAMIC_QUANT[3],
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 8 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<RmsNormDynamicQuant>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.rms_norm_dynamic_quant.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.rms_norm_dynamic_quant.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl {
            name: "cpu.native.rms_norm_dynamic_quant.portable",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl { name: "cpu.reference.rms_norm_dynamic_quant", solution: "cpu.reference", libraries: &[] },
        ImplementationDecl { name: "cuda.native.rms_norm_dynamic_quant", solution: "cuda.native", libraries: &[] },
    ],
);
