// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Linear layers: rows times the transpose of a weight.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! linear_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] linear:
            linear: Linear,
            linear_wna16: LinearWna16,
        }
    };
}

linear_operators!(family);

mod convert;

pub use convert::{
    ConvertError, GgufBlock, PlainCodes, PlainWeight, StoredZero, WeightShape, from_awq, from_gguf, from_gptq,
};

use opweave_tensor::DType;

use crate::{ArgSpecs, Cost, DynDims, Legal, NumericalMode, Rounding, Saturation, choice};

/// Columns of `input`: none is legal.
pub const IN_FEATURES: Legal = Legal::Range(0, 1 << 30);
/// Columns of `out`.
pub const OUT_FEATURES: Legal = Legal::Range(1, 1 << 30);

choice! {
    /// What a linear layer does to its f32 sum, bias included, before it is rounded.
    pub enum LinearActivation {
        /// Nothing.
        None = "none",
        /// `max(y, 0)`; NaN stays NaN.
        Relu = "relu",
        /// `y * sigmoid(y)`.
        Silu = "silu",
        /// `y * (1 + erf(y / sqrt(2))) / 2`.
        Gelu = "gelu",
        /// `y * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 y^3))) / 2`.
        GeluTanh = "gelu_tanh",
    }
}

choice! {
    /// In which form calls pass the weight.
    pub enum WeightForm {
        /// As the plan reads it best: packed once, by the plan, into a buffer of the caller's, if the plan has a layout.
        Packed = "packed",
        /// As the plain tensor that it is, such as a table that an embedding gathers from as well.
        Plain = "plain",
    }
}

choice! {
    /// What the product sees of the input.
    pub enum InputMode {
        /// Its values.
        AsIs = "as_is",
        /// 8-bit codes of blocks of 32, each block with a scale of its own (llama.cpp).
        I8Block32 = "i8_block32",
    }
}

/// Columns of a block of `input_mode=i8_block32`.
pub const INPUT_BLOCK: usize = 32;

choice! {
    /// How a code of a quantised weight becomes a number.
    pub enum WeightOffset {
        /// `scale * (code - 2^(bits - 1))`: GGUF Q4_0 and Q8_0, symmetric GPTQ.
        None = "none",
        /// `scale * (code - zero)`: GPTQ, AWQ.
        Integer = "integer",
        /// `scale * code + minimum`: GGUF Q4_1.
        Minimum = "minimum",
    }
}

impl WeightOffset {
    /// The dtype of `offsets` where `scales` are of `scale`, if there is such a tensor.
    pub const fn dtype_beside(self, scale: DType) -> Option<DType> {
        match self {
            WeightOffset::None => None,
            WeightOffset::Integer => Some(DType::U8),
            WeightOffset::Minimum => Some(scale),
        }
    }
}

/// Groups of a row.
const fn groups(in_features: usize, group_size: usize) -> usize {
    match in_features.checked_div(group_size) {
        Some(groups) => groups,
        None => 0,
    }
}

/// A mode with these roundings before the last one.
const fn mode(name: &'static str, roundings: &'static [Rounding]) -> NumericalMode {
    NumericalMode { name, accumulation: DType::F32, roundings, weight_multiply: None, saturation: Saturation::None }
}

/// What a linear layer takes: a multiplication and an addition for each weight and row.
fn cost(specs: &ArgSpecs, dims: &DynDims, in_features: usize, out_features: usize) -> Cost {
    let products = dims.get(0).saturating_mul(in_features).saturating_mul(out_features);
    Cost::streaming(specs, dims, 2_u64.saturating_mul(products as u64))
}
