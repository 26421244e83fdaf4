// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Residual add, root-mean-square normalization of the sum, and quantization of the result.

use opweave_tensor::DType;

use super::{ACTIVATIONS, QuantMode, Sum, WIDTHS, WeightMultiply, quantised};
use crate::ops::quantization::{CODES, I8_RANGES, ScaleFormat};
use crate::{Cost, Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, ScalarRange, operator};

/// `fused_add_rms_norm_dynamic_quant`, by `sum`, within it by `mode`, and within that by `weight_multiply`.
pub static FUSED_ADD_RMS_NORM_DYNAMIC_QUANT: [OpContract; 8] = [
    contract(
        "sum=unrounded mode=composed weight_multiply=f32",
        Sum::Unrounded,
        QuantMode::Composed,
        WeightMultiply::F32,
    ),
    contract(
        "sum=unrounded mode=composed weight_multiply=after_rounding",
        Sum::Unrounded,
        QuantMode::Composed,
        WeightMultiply::AfterRounding,
    ),
    contract("sum=unrounded mode=f32 weight_multiply=f32", Sum::Unrounded, QuantMode::F32, WeightMultiply::F32),
    contract(
        "sum=unrounded mode=f32 weight_multiply=after_rounding",
        Sum::Unrounded,
        QuantMode::F32,
        WeightMultiply::AfterRounding,
    ),
    contract("sum=rounded mode=composed weight_multiply=f32", Sum::Rounded, QuantMode::Composed, WeightMultiply::F32),
    contract(
        "sum=rounded mode=composed weight_multiply=after_rounding",
        Sum::Rounded,
        QuantMode::Composed,
        WeightMultiply::AfterRounding,
    ),
    contract("sum=rounded mode=f32 weight_multiply=f32", Sum::Rounded, QuantMode::F32, WeightMultiply::F32),
    contract(
        "sum=rounded mode=f32 weight_multiply=after_rounding",
        Sum::Rounded,
        QuantMode::F32,
        WeightMultiply::AfterRounding,
    ),
];

const fn contract(name: &'static str, sum: Sum, values: QuantMode, multiply: WeightMultiply) -> OpContract {
    OpContract {
        operation: "fused_add_rms_norm_dynamic_quant",
        version: 1,
        mutates: &["residual"],
        aliases: &[],
        numerical_mode: quantised(name, sum, values, multiply),
    }
}

operator! {
    /// `residual += input`, `norm = residual * rsqrt(mean(residual^2) + epsilon) * weight`, then
    /// `scale = max(abs(norm)) / largest code` and `out = saturate(round(norm / scale))`, row by row.
    ///
    /// The sum is rounded to the activation's dtype as it is stored; whether the norm sees it before or after that is
    /// the mode `sum`.
    pub FusedAddRmsNormDynamicQuant = "fused_add_rms_norm_dynamic_quant";
    problem FusedAddRmsNormDynamicQuantProblem {
        required {
            /// Elements of a row.
            hidden_size: usize => WIDTHS;
            /// dtype of `input` and `residual`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// dtype of `weight`: that of the activation or f32; none for a weight of ones.
            weight_dtype: Option<DType> = Some(dtype) => Legal::DTypes(ACTIVATIONS);
            /// Which sum the norm sees.
            sum: Sum = Sum::Unrounded => Legal::Any;
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
    args FusedAddRmsNormDynamicQuantArgs {
        tensors {
            /// What is added to the residual.
            input: In [tokens strided, hidden_size] of dtype;
            /// The residual stream; holds the rounded sum afterwards.
            residual: InOut [tokens strided, hidden_size] of dtype;
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
        &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[0], &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[1],
        &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[2], &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[3],
        &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[4], &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[5],
        &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[6], &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[7],
    ] by |problem| match (problem.sum, problem.mode, problem.weight_multiply) {
        (Sum::Unrounded, QuantMode::Composed, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[0],
        (Sum::Unrounded, QuantMode::Composed, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[1],
        (Sum::Unrounded, QuantMode::F32, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[2],
        (Sum::Unrounded, QuantMode::F32, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[3],
        (Sum::Rounded, QuantMode::Composed, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[4],
        (Sum::Rounded, QuantMode::Composed, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[5],
        (Sum::Rounded, QuantMode::F32, WeightMultiply::F32) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[6],
        (Sum::Rounded, QuantMode::F32, WeightMultiply::AfterRounding) => &FUSED_ADD_RMS_NORM_DYNAMIC_QUANT[7],
    };
    cost |problem, specs, dims| Cost::streaming(specs, dims, 9 * (dims.get(0) * problem.hidden_size) as u64);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<FusedAddRmsNormDynamicQuant>::NEW,
    &[
        ImplementationDecl {
            name: "cpu.native.fused_add_rms_norm_dynamic_quant.avx2",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl {
            name: "cpu.native.fused_add_rms_norm_dynamic_quant.avx512",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl {
            name: "cpu.native.fused_add_rms_norm_dynamic_quant.portable",
            solution: "cpu.native",
            libraries: &[],
        },
        ImplementationDecl {
            name: "cpu.reference.fused_add_rms_norm_dynamic_quant",
            solution: "cpu.reference",
            libraries: &[],
        },
        ImplementationDecl {
            name: "cuda.native.fused_add_rms_norm_dynamic_quant",
            solution: "cuda.native",
            libraries: &[],
        },
    ],
);
