// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization of activations: numbers to codes of one byte and a scale, `number = scale * code`.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! quantization_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] quantization:
            quantize_per_tensor: QuantizePerTensor,
            dynamic_quant: DynamicQuant,
        }
    };
}

quantization_operators!(family);

use opweave_tensor::DType;

use crate::{DTypeExpr, NumericalMode, RoundTo, Rounding, Saturation, choice};

/// The dtypes of codes.
pub const CODES: &[DType] = &[DType::F8E4M3, DType::F8E5M2, DType::I8];

/// The largest magnitudes of i8 codes: 127 for a symmetric range, 128 for all of them.
pub const I8_RANGES: &[u64] = &[127, 128];

choice! {
    /// How scales are stored.
    pub enum ScaleFormat {
        /// As f32.
        F32 = "f32",
        /// Rounded up to a power of two and stored as f8e8m0.
        PowerOfTwo = "power_of_two",
    }
}

impl DTypeExpr for ScaleFormat {
    fn dtype(self) -> Option<DType> {
        Some(match self {
            ScaleFormat::F32 => DType::F32,
            ScaleFormat::PowerOfTwo => DType::F8E8M0,
        })
    }
}

/// The code that the largest magnitude of a row gets: the largest finite one. For i8 that is 127 in either range.
pub const fn largest_code(codes: DType) -> f32 {
    match codes {
        DType::F8E4M3 => 448.0,
        DType::F8E5M2 => 57344.0,
        _ => 127.0,
    }
}

/// The rounding of the quotient to f32, before it is rounded to a code: the division is an f32 division.
pub(crate) const QUOTIENT_ROUNDING: Rounding = Rounding { value: "quotient", to: RoundTo::Fixed(DType::F32) };
/// The rounding of a row's scale.
pub(crate) const SCALE_ROUNDING: Rounding = Rounding { value: "scale", to: RoundTo::Fixed(DType::F32) };

/// The mode of a quantization with these roundings before the last one.
pub(crate) const fn mode(name: &'static str, roundings: &'static [Rounding]) -> NumericalMode {
    NumericalMode { name, accumulation: DType::F32, roundings, weight_multiply: None, saturation: Saturation::Finite }
}
