// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of rows: a reduction over the hidden dimension, then a scale.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! normalization_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] normalization:
            rms_norm: RmsNorm,
            gemma_rms_norm: GemmaRmsNorm,
            fused_add_rms_norm: FusedAddRmsNorm,
            fused_add_gemma_rms_norm: FusedAddGemmaRmsNorm,
            layer_norm: LayerNorm,
            l2_norm: L2Norm,
            rms_norm_gated: RmsNormGated,
            rms_norm_dynamic_quant: RmsNormDynamicQuant,
            fused_add_rms_norm_dynamic_quant: FusedAddRmsNormDynamicQuant,
        }
    };
}

normalization_operators!(family);

use opweave_tensor::DType;

use crate::ops::quantization::{QUOTIENT_ROUNDING, SCALE_ROUNDING};
use crate::{Legal, MultiplyIn, NumericalMode, RoundTo, Rounding, Saturation, choice};

/// The dtypes of activations.
pub const ACTIVATIONS: &[DType] = &[DType::F32, DType::F16, DType::BF16];

/// Row widths: past 2^30 elements a row is no longer a hidden dimension.
pub const WIDTHS: Legal = Legal::Range(1, 1 << 30);

choice! {
    /// Where the weight is multiplied.
    pub enum WeightMultiply {
        /// In f32, so that there is one rounding (FlashInfer).
        F32 = "f32",
        /// In the activation's dtype, on the normalised value already rounded to it (vLLM, Transformers).
        AfterRounding = "after_rounding",
    }
}

choice! {
    /// Which sum the norm of a fused add sees.
    pub enum Sum {
        /// The f32 sum (FlashInfer).
        Unrounded = "unrounded",
        /// The sum as stored in `residual` (vLLM).
        Rounded = "rounded",
    }
}

choice! {
    /// Which values of a norm are quantised.
    pub enum QuantMode {
        /// Those that the norm alone would store, rounded to the activation's dtype: the two operators one after the
        /// other (vLLM).
        Composed = "composed",
        /// Those before that rounding.
        F32 = "f32",
    }
}

/// The rounding of the normalised value that `weight_multiply=after_rounding` adds.
pub(crate) const NORMALISED_ROUNDING: Rounding = Rounding { value: "normalised value", to: RoundTo::Activation };
/// The rounding of the sum that `sum=rounded` adds.
pub(crate) const SUM_ROUNDING: Rounding = Rounding { value: "sum", to: RoundTo::Activation };

/// The rounding of the norm that `mode=composed` adds.
pub(crate) const NORM_ROUNDING: Rounding = Rounding { value: "norm", to: RoundTo::Activation };

/// The rounding of the product with the weight where a gate follows it.
pub(crate) const WEIGHTED_ROUNDING: Rounding = Rounding { value: "weighted value", to: RoundTo::Activation };

/// The mode of an RMS norm: accumulated in f32, with these roundings.
pub(crate) const fn mode(
    name: &'static str,
    roundings: &'static [Rounding],
    multiply: Option<MultiplyIn>,
) -> NumericalMode {
    NumericalMode { name, accumulation: DType::F32, roundings, weight_multiply: multiply, saturation: Saturation::None }
}

/// The mode of a norm that ends in codes, under this name.
const fn quantised(name: &'static str, sum: Sum, values: QuantMode, multiply: WeightMultiply) -> NumericalMode {
    let (roundings, multiply): (&[Rounding], _) = match (sum, values, multiply) {
        (Sum::Unrounded, QuantMode::Composed, WeightMultiply::F32) => {
            (&[NORM_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::F32)
        }
        (Sum::Unrounded, QuantMode::Composed, WeightMultiply::AfterRounding) => {
            (&[NORMALISED_ROUNDING, NORM_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::Activation)
        }
        (Sum::Unrounded, QuantMode::F32, WeightMultiply::F32) => {
            (&[SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::F32)
        }
        (Sum::Unrounded, QuantMode::F32, WeightMultiply::AfterRounding) => {
            (&[NORMALISED_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::Activation)
        }
        (Sum::Rounded, QuantMode::Composed, WeightMultiply::F32) => {
            (&[SUM_ROUNDING, NORM_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::F32)
        }
        (Sum::Rounded, QuantMode::Composed, WeightMultiply::AfterRounding) => (
            &[SUM_ROUNDING, NORMALISED_ROUNDING, NORM_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING],
            MultiplyIn::Activation,
        ),
        (Sum::Rounded, QuantMode::F32, WeightMultiply::F32) => {
            (&[SUM_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::F32)
        }
        (Sum::Rounded, QuantMode::F32, WeightMultiply::AfterRounding) => {
            (&[SUM_ROUNDING, NORMALISED_ROUNDING, SCALE_ROUNDING, QUOTIENT_ROUNDING], MultiplyIn::Activation)
        }
    };
    NumericalMode { saturation: Saturation::Finite, ..mode(name, roundings, Some(multiply)) }
}
