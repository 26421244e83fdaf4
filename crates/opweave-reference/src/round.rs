// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rounding of a number to a dtype.

use opweave_tensor::DType;

/// The value of `dtype` that is nearest to `value`, ties to even; beyond the range an infinity; NaN stays NaN.
///
/// Rounded once, straight from f64: by way of f32 a value just above a tie would come out wrong. 8-bit floats are
/// rounded within their range: what lies beyond it is clamped before. Other dtypes are left alone: no reference rounds to
/// them.
pub fn round(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(value as f32),
        DType::F16 => to_format(value, 10, -14, 15),
        DType::BF16 => to_format(value, 7, -126, 127),
        DType::F8E4M3 => to_format(value, 3, -6, 8),
        DType::F8E5M2 => to_format(value, 2, -14, 15),
        _ => value,
    }
}

/// Rounds to a binary format with `mantissa` bits after the point and exponents `least..=most`.
fn to_format(value: f64, mantissa: i32, least: i32, most: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    // Values below the normal range have the spacing of the least exponent.
    let exponent = (exponent_of(value)).max(least);
    let spacing = 2_f64.powi(exponent - mantissa);
    // Scaling by a power of two is exact, and the quotient is small enough to hold its fraction.
    let rounded = (value / spacing).round_ties_even() * spacing;
    let largest = (2.0 - 2_f64.powi(-mantissa)) * 2_f64.powi(most);
    if rounded.abs() > largest { f64::INFINITY.copysign(value) } else { rounded }
}

/// The exponent of a finite number that is not zero; for subnormals of f64, far below every format here, the least one.
fn exponent_of(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn values_of_the_dtype_stay() {
        for bits in 0..=u16::MAX {
            for (dtype, value) in
                [(DType::F16, f16::from_bits(bits).to_f64()), (DType::BF16, bf16::from_bits(bits).to_f64())]
            {
                let rounded = round(dtype, value);
                assert!(
                    rounded.to_bits() == value.to_bits() || (rounded.is_nan() && value.is_nan()),
                    "{dtype} {bits:x}"
                );
            }
        }
    }

    #[test]
    fn between_two_values_the_nearer_one_wins_and_ties_go_to_the_even_one() {
        for (dtype, finite, value) in [
            (DType::F16, 0x7bff, (|bits| f16::from_bits(bits).to_f64()) as fn(u16) -> f64),
            (DType::BF16, 0x7f7f, |bits| bf16::from_bits(bits).to_f64()),
        ] {
            for bits in 0..finite {
                let (low, high) = (value(bits), value(bits + 1));
                let middle = low + (high - low) / 2.0;
                let even = if bits % 2 == 0 { low } else { high };
                for sign in [1.0, -1.0] {
                    assert_eq!(round(dtype, sign * middle), sign * even, "{dtype} tie above {bits:x}");
                    assert_eq!(round(dtype, sign * middle.next_down()), sign * low, "{dtype} below {bits:x}");
                    assert_eq!(round(dtype, sign * middle.next_up()), sign * high, "{dtype} above {bits:x}");
                }
            }
        }
    }

    #[test]
    fn beyond_the_range_is_infinity_from_the_middle_of_the_next_step_on() {
        assert_eq!(round(DType::F16, 65519.999), 65504.0);
        assert_eq!(round(DType::F16, 65520.0), f64::INFINITY);
        assert_eq!(round(DType::F16, -1e300), f64::NEG_INFINITY);
        assert_eq!(round(DType::BF16, 3.39e38), f64::from(bf16::MAX));
        assert_eq!(round(DType::BF16, 3.40e38), f64::INFINITY);
        assert_eq!(round(DType::F32, 1e39), f64::INFINITY);
        assert_eq!(round(DType::F16, 2_f64.powi(-26)), 0.0);
        assert!(round(DType::BF16, f64::NAN).is_nan());
    }
}
