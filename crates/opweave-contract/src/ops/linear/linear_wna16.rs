// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A linear layer with a weight of 4-bit or 8-bit codes.

use opweave_tensor::DType;

use super::{IN_FEATURES, InputMode, LinearActivation, OUT_FEATURES, WeightForm, WeightOffset, cost, groups, mode};
use crate::ops::normalization::ACTIVATIONS;
use crate::ops::quantization::{QUOTIENT_ROUNDING, SCALE_ROUNDING};
use crate::{Erased, ImplementationDecl, Legal, OpContract, OperationDecl, Relation, operator};

const fn contract(name: &'static str, roundings: &'static [crate::Rounding]) -> OpContract {
    let numerical_mode = mode(name, roundings);
    OpContract { operation: "linear_wna16", version: 1, mutates: &[], aliases: &[], numerical_mode }
}

/// `input_mode=as_is`: the input's values, summed in f32.
pub static LINEAR_WNA16_AS_IS: OpContract = contract("input_mode=as_is", &[]);
/// `input_mode=i8_block32`: scale and quotient of each block are f32 divisions, then one rounding to a code.
pub static LINEAR_WNA16_I8_BLOCK32: OpContract =
    contract("input_mode=i8_block32", &[SCALE_ROUNDING, QUOTIENT_ROUNDING]);

operator! {
    /// `out = activation(input weight^T + bias)` with `weight[n, k]` the number that the code in row `n`, column `k` stands for:
    /// `scale * (code - zero)` or `scale * code + minimum`, with the scale and offset of its group of columns.
    ///
    /// With `input_mode=i8_block32` the product sees, for each block of 32 columns, `scale * code` where
    /// `scale = max(abs(input)) / 127` and `code = round(input / scale)`.
    ///
    /// Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2023; Lin et al.,
    /// "AWQ: Activation-aware Weight Quantization", 2024; the block formats of GGUF.
    pub LinearWna16 = "linear_wna16";
    problem LinearWna16Problem {
        required {
            /// Columns of `input`: whole groups. Without any, `out` is the activation of the bias.
            in_features: usize => IN_FEATURES;
            /// Columns of `out`, rows of `weight`.
            out_features: usize => OUT_FEATURES;
            /// dtype of `input`.
            dtype: DType => Legal::DTypes(ACTIVATIONS);
        }
        optional {
            /// Bits of a code.
            bits: usize = 4 => Legal::Ints(&[4, 8]);
            /// Columns that share a scale and an offset.
            group_size: usize = 32 => Legal::Ints(&[32, 64, 128]);
            /// dtype of `scales`.
            scale_dtype: DType = DType::F16 => Legal::DTypes(ACTIVATIONS);
            /// What `offsets` holds: nothing, the code of zero as u8, or the number of code 0 in the dtype of `scales`.
            offset: WeightOffset = WeightOffset::None => Legal::Any;
            /// What the product sees of the input.
            input_mode: InputMode = InputMode::AsIs => Legal::Any;
            /// dtype of `bias`; none for no bias.
            bias_dtype: Option<DType> = None => Legal::DTypes(ACTIVATIONS);
            /// dtype of `out`, such as f32 for logits.
            output_dtype: DType = dtype => Legal::DTypes(ACTIVATIONS);
            /// What is done to the sum before it is rounded.
            activation: LinearActivation = LinearActivation::None => Legal::Any;
            /// Whether the plan may have the codes packed.
            weight_form: WeightForm = WeightForm::Packed => Legal::Any;
        }
        relations [Relation::Divides("in_features", "group_size")]
    }
    dims {
        /// Rows.
        tokens >= 0;
    }
    args LinearWna16Args {
        tensors {
            /// Rows.
            input: In [tokens strided, in_features] of dtype;
            /// Codes, a row for each column of `out`; of 4 bits, two in a byte, the even column in its lower half.
            weight: Packed [out_features strided, (in_features * bits / 8)] of DType::U8;
            /// The scale of each group of columns, for each column of `out`.
            scales: In [(groups(in_features, group_size)) strided, out_features] of scale_dtype;
            /// The offset of each group of columns, for each column of `out`.
            offsets: OptionalIn [(groups(in_features, group_size)) strided, out_features] of offset.dtype_beside(scale_dtype);
            /// Added to each row.
            bias: OptionalIn [out_features] of bias_dtype;
            /// The results.
            out: Out [tokens strided, out_features] of output_dtype;
        }
        scalars {}
    }
    faults []
    contracts [&LINEAR_WNA16_AS_IS, &LINEAR_WNA16_I8_BLOCK32] by |problem| match problem.input_mode {
        InputMode::AsIs => &LINEAR_WNA16_AS_IS,
        InputMode::I8Block32 => &LINEAR_WNA16_I8_BLOCK32,
    };
    cost |problem, specs, dims| cost(specs, dims, problem.in_features, problem.out_features);
}

pub(super) const DECLARATION: OperationDecl = OperationDecl::new(
    &Erased::<LinearWna16>::NEW,
    &[
        ImplementationDecl { name: "cpu.native.linear_wna16.avx2", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.linear_wna16.avx512", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.native.linear_wna16.portable", solution: "cpu.native", libraries: &[] },
        ImplementationDecl { name: "cpu.reference.linear_wna16", solution: "cpu.reference", libraries: &[] },
    ],
);
