// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bit patterns to numbers and back, one rounding each way.
//!
//! Everything below works on the raw pattern of an element in the low bits of a `u64`. Floats go through [`Format`], which
//! describes a binary format by its field widths; so a new float dtype is one row of [`format()`], and the comparator, the
//! generator and the poison patterns follow. Conversion from `f64` is direct: going through `f32` would round twice, and
//! the expected value of a comparison must not carry an error of its own.

use opweave_tensor::DType;

/// What the patterns with the largest exponent mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Top {
    /// Infinity with a zero mantissa, NaN otherwise (IEEE 754).
    Ieee,
    /// Ordinary numbers, except the all-ones pattern, which is NaN; no infinity (OCP f8e4m3).
    NanOnly,
    /// Nothing but powers of two, from the pattern 0 on, and the all-ones pattern, which is NaN; no sign, no zero, no
    /// infinity (OCP f8e8m0).
    PowersOfTwo,
}

/// A binary floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
    top: Top,
}

/// The format of a float dtype; `None` for integers and for floats that this crate does not convert.
pub const fn format(dtype: DType) -> Option<Format> {
    let (exponent_bits, mantissa_bits, top) = match dtype {
        DType::F64 => (11, 52, Top::Ieee),
        DType::F32 => (8, 23, Top::Ieee),
        DType::F16 => (5, 10, Top::Ieee),
        DType::BF16 => (8, 7, Top::Ieee),
        DType::F8E5M2 => (5, 2, Top::Ieee),
        DType::F8E4M3 => (4, 3, Top::NanOnly),
        DType::F8E8M0 => (8, 0, Top::PowersOfTwo),
        _ => return None,
    };
    Some(Format { exponent_bits, mantissa_bits, top })
}

impl Format {
    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The bit of the sign; 0 where there is none.
    pub(crate) const fn sign_bit(self) -> u64 {
        match self.top {
            Top::PowersOfTwo => 0,
            _ => 1 << (self.exponent_bits + self.mantissa_bits),
        }
    }

    /// The bits of the magnitude.
    pub(crate) const fn magnitude_mask(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    /// The smallest pattern, without sign, that is no finite number.
    const fn first_non_finite(self) -> u64 {
        match self.top {
            Top::Ieee => ((1 << self.exponent_bits) - 1) << self.mantissa_bits,
            Top::NanOnly | Top::PowersOfTwo => self.magnitude_mask(),
        }
    }

    /// The quiet NaN that this crate writes.
    pub const fn canonical_nan(self) -> u64 {
        match self.top {
            Top::Ieee => self.first_non_finite() | (1 << (self.mantissa_bits - 1)),
            Top::NanOnly | Top::PowersOfTwo => self.first_non_finite(),
        }
    }

    /// Distance from 1 to the next larger number: 2^-mantissa bits.
    pub fn epsilon(self) -> f64 {
        power_of_two(-(self.mantissa_bits as i32))
    }

    /// The smallest positive number, a subnormal where there are any.
    pub fn smallest(self) -> f64 {
        match self.top {
            Top::PowersOfTwo => power_of_two(-self.bias()),
            _ => power_of_two(1 - self.bias() - self.mantissa_bits as i32),
        }
    }

    /// Exponents of the normal numbers: `2^low ..= 2^high` bracket their leading digits.
    pub const fn exponents(self) -> (i32, i32) {
        match self.top {
            Top::Ieee => (1 - self.bias(), self.bias()),
            Top::NanOnly => (1 - self.bias(), self.bias() + 1),
            Top::PowersOfTwo => (-self.bias(), self.bias()),
        }
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        self.decode(self.first_non_finite() - 1)
    }

    /// The number that the pattern `bits` stands for; exact, because every format here is a subset of binary64.
    #[inline]
    pub fn decode(self, bits: u64) -> f64 {
        let sign = (bits & self.sign_bit() != 0) as u64;
        let magnitude = bits & self.magnitude_mask();
        if magnitude >= self.first_non_finite() {
            let infinite = self.top == Top::Ieee && magnitude == self.first_non_finite();
            return match (infinite, sign) {
                (true, 0) => f64::INFINITY,
                (true, _) => f64::NEG_INFINITY,
                (false, _) => f64::NAN,
            };
        }
        if self.top == Top::PowersOfTwo {
            return power_of_two(magnitude as i32 - self.bias());
        }
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let exponent = magnitude >> self.mantissa_bits;
        if exponent == 0 {
            let value = mantissa as f64 * self.smallest();
            return if sign == 0 { value } else { -value };
        }
        let biased = (exponent as i64 - self.bias() as i64 + 1023) as u64;
        f64::from_bits(sign << 63 | biased << 52 | mantissa << (52 - self.mantissa_bits))
    }

    /// The pattern of `value` rounded once, to nearest and ties to even. Past the largest number: infinity, or NaN in a
    /// format that has none (saturation is a contract's business, not a conversion's).
    #[inline]
    pub fn encode(self, value: f64) -> u64 {
        let bits = value.to_bits();
        let (magnitude, shift) = (bits & !(1 << 63), 52 - self.mantissa_bits);
        let field = (magnitude >> 52) as i32 - 1023;
        let (lowest, highest) = self.exponents();
        // Most numbers are normal in the format: half of the last place is added, less one where that makes a tie even.
        if shift > 0 && self.top != Top::PowersOfTwo && field >= lowest && field <= highest {
            let even = magnitude >> shift & 1;
            let rounded = (magnitude + ((1 << (shift - 1)) - 1) + even) >> shift;
            let rebased = rounded - (((1023 - self.bias()) as u64) << self.mantissa_bits);
            let sign = bits >> 63 << (self.exponent_bits + self.mantissa_bits);
            return sign | rebased.min(self.first_non_finite());
        }
        self.encode_any(value)
    }

    /// [`Format::encode`] of any number at all.
    fn encode_any(self, value: f64) -> u64 {
        if self.top == Top::PowersOfTwo {
            return self.encode_power(value);
        }
        let bits = value.to_bits();
        let sign = if bits >> 63 != 0 { self.sign_bit() } else { 0 };
        if value.is_nan() {
            // Without a sign: with one, a NaN of eight bits may be the poison of memory that nobody wrote.
            return self.canonical_nan();
        }
        if value.is_infinite() {
            return sign | self.first_non_finite();
        }
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        // Value = significand * 2^(exponent - 52).
        let (significand, exponent) = if field == 0 { (fraction, -1022) } else { (fraction | 1 << 52, field - 1023) };
        let lowest = 1 - self.bias();
        let lost = (lowest - exponent).max(0) as u32;
        let shift = 52 - self.mantissa_bits + lost;
        let rounded = match shift {
            0 => significand,
            1..=53 => {
                let half = 1_u64 << (shift - 1);
                let rest = significand & ((1 << shift) - 1);
                let kept = significand >> shift;
                kept + (rest > half || (rest == half && kept & 1 == 1)) as u64
            }
            // Below half of the smallest number.
            _ => 0,
        };
        // A normal significand carries its leading one into the exponent field; a carry out of rounding goes there too.
        // A significand below its leading one (a binary64 subnormal) already is the subnormal pattern.
        let base = (exponent.max(lowest) - lowest) as u64;
        let magnitude = (base << self.mantissa_bits) + rounded;
        sign | magnitude.min(self.first_non_finite())
    }

    /// The pattern of the nearest power of two; of two equally near ones the larger. Zero is nearest to the smallest; what is
    /// negative has none.
    fn encode_power(self, value: f64) -> u64 {
        let magnitude = value.to_bits() & !(1 << 63);
        if value.is_nan() || (value < 0.0 && magnitude != 0) {
            return self.canonical_nan();
        }
        // Half a mantissa carries into the exponent.
        let exponent = ((magnitude + (1 << 51)) >> 52) as i64 - 1023;
        (exponent + i64::from(self.bias())).clamp(0, self.first_non_finite() as i64) as u64
    }
}

/// 2^exponent, exactly, also for subnormal results.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074).clamp(0, 51))
    }
}

/// The range of an integer dtype (0 and 1 for `bool`); `None` for floats and for types narrower than a byte.
pub const fn integer_range(dtype: DType) -> Option<(i128, i128)> {
    Some(match dtype {
        DType::I64 => (i64::MIN as i128, i64::MAX as i128),
        DType::I32 => (i32::MIN as i128, i32::MAX as i128),
        DType::I16 => (i16::MIN as i128, i16::MAX as i128),
        DType::I8 => (i8::MIN as i128, i8::MAX as i128),
        DType::U64 => (0, u64::MAX as i128),
        DType::U32 => (0, u32::MAX as i128),
        DType::U8 => (0, u8::MAX as i128),
        DType::Bool => (0, 1),
        _ => return None,
    })
}

/// The integer that the pattern `bits` stands for. A `bool` byte that is neither 0 nor 1 decodes as it is, so that a
/// comparison sees it.
pub const fn decode_integer(dtype: DType, bits: u64) -> i128 {
    match dtype {
        DType::I64 => bits as i64 as i128,
        DType::I32 => bits as i32 as i128,
        DType::I16 => bits as i16 as i128,
        DType::I8 => bits as i8 as i128,
        _ => bits as i128,
    }
}

/// The pattern of an integer that lies in the dtype's range.
pub const fn encode_integer(dtype: DType, value: i128) -> u64 {
    mask(dtype, value as u64)
}

/// Whether this crate converts elements of the dtype.
pub const fn supported(dtype: DType) -> bool {
    format(dtype).is_some() || integer_range(dtype).is_some()
}

/// The low bits of `bits` that an element of the dtype holds.
pub const fn mask(dtype: DType, bits: u64) -> u64 {
    let width = dtype.bits();
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// The number that a pattern stands for; integers past 2^53 round. NaN for a dtype that is not [`supported`].
pub fn decode(dtype: DType, bits: u64) -> f64 {
    match format(dtype) {
        Some(format) => format.decode(bits),
        None if supported(dtype) => decode_integer(dtype, bits) as f64,
        None => f64::NAN,
    }
}

/// Appends the numbers that a row of patterns stands for, as [`decode`] has them.
pub fn decode_row(dtype: DType, row: &[u64], numbers: &mut Vec<f64>) {
    match format(dtype) {
        Some(format) => numbers.extend(row.iter().map(|&bits| format.decode(bits))),
        // Codes of weights are millions, and a conversion of 128 bits is a call.
        None if dtype == DType::U8 => numbers.extend(row.iter().map(|&bits| f64::from(bits as u8))),
        None if dtype == DType::I8 => numbers.extend(row.iter().map(|&bits| f64::from(bits as i8))),
        None => numbers.extend(row.iter().map(|&bits| decode(dtype, bits))),
    }
}

/// The pattern of a number, rounded once; for integer dtypes to the nearest even integer, clamped to the range (NaN is 0).
pub fn encode(dtype: DType, value: f64) -> u64 {
    match (format(dtype), integer_range(dtype)) {
        (Some(format), _) => format.encode(value),
        (None, Some((low, high))) => encode_integer(dtype, (value.round_ties_even() as i128).clamp(low, high)),
        (None, None) => 0,
    }
}

/// The pattern that fills an output before the call. For floats a NaN that no arithmetic produces, so that an element
/// which was never written is recognised even where NaN is the right answer.
pub const fn poison(dtype: DType) -> u64 {
    match dtype {
        DType::F64 => 0x7ff8_dead_beef_5a5a,
        DType::F32 => 0x7fc5_5a5a,
        DType::F16 => 0x7e5a,
        DType::BF16 => 0x7fda,
        DType::F8E4M3 => 0xff,
        DType::F8E5M2 => 0xfe,
        // The one NaN may be the right answer; 2^127, the largest number, is that of nothing that was scaled.
        DType::F8E8M0 => 0xfe,
        // An integer has no spare pattern; these are at least unlikely values.
        DType::Bool => 0xa5,
        _ => 0xa5a5_5a5a_a55a_5aa5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_patterns_round_trip_and_agree_with_half() {
        for bits in 0..=u16::MAX {
            for (dtype, other) in
                [(DType::F16, half::f16::from_bits(bits).to_f64()), (DType::BF16, half::bf16::from_bits(bits).to_f64())]
            {
                let format = format(dtype).unwrap();
                let value = format.decode(bits.into());
                if other.is_nan() {
                    assert!(value.is_nan());
                } else {
                    assert_eq!(value.to_bits(), other.to_bits(), "{dtype} {bits:04x}");
                    assert_eq!(format.encode(value), u64::from(bits), "{dtype} {bits:04x}");
                }
            }
        }
    }

    #[test]
    fn the_short_way_of_normal_numbers_agrees_with_that_of_any_number() {
        let formats = [DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E5M2, DType::F8E4M3, DType::F8E8M0];
        for format in formats.map(|dtype| format(dtype).unwrap()) {
            let (low, high) = format.exponents();
            let last = 52 - format.mantissa_bits;
            for exponent in (low - 3..=high + 2).map(|e| (e + 1023).clamp(0, 2046) as u64) {
                // About each boundary of rounding: ties, what lies beside them, and what carries into the exponent.
                for kept in [0, 1, 2, u64::MAX - 1, u64::MAX] {
                    for rest in
                        [0, 1, (1 << last >> 1) - u64::from(last > 0), 1 << last >> 1, (1 << last >> 1) + 1, u64::MAX]
                    {
                        let fraction = (kept << last | rest & ((1 << last) - 1)) & ((1 << 52) - 1);
                        for sign in [0, 1 << 63] {
                            let value = f64::from_bits(sign | exponent << 52 | fraction);
                            assert_eq!(format.encode(value), format.encode_any(value), "{format:?} {value:e}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn powers_of_two_round_trip_and_round_to_the_nearest() {
        let format = format(DType::F8E8M0).unwrap();
        for bits in 0..255 {
            let value = format.decode(bits);
            assert_eq!(value, f64::from(opweave_tensor::F8E8M0::from_bits(bits as u8).to_f32()));
            assert_eq!(format.encode(value), bits, "{value:e}");
            assert_eq!(format.encode((value * 1.5).next_down()), bits, "{value:e}");
            assert_eq!(format.encode(value * 1.5), bits + 1, "{value:e}");
        }
        assert!(format.decode(255).is_nan());
        for (value, bits) in [(0.0, 0), (1e-300, 0), (-0.0, 0), (-1.0, 255), (f64::INFINITY, 255), (f64::NAN, 255)] {
            assert_eq!(format.encode(value), bits, "{value:e}");
        }
        assert_eq!((format.smallest(), format.largest()), (2_f64.powi(-127), 2_f64.powi(127)));
        assert_eq!((format.exponents(), format.epsilon()), ((-127, 127), 1.0));
    }

    #[test]
    fn rounding_is_to_nearest_even_at_every_midpoint() {
        for dtype in [DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2] {
            let format = format(dtype).unwrap();
            for bits in 0..format.first_non_finite() - 1 {
                let (low, high) = (format.decode(bits), format.decode(bits + 1));
                let middle = low + (high - low) / 2.0;
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(format.encode(middle), even, "{dtype} tie above {bits:x}");
                assert_eq!(format.encode(middle.next_down()), bits, "{dtype} below the tie above {bits:x}");
                assert_eq!(format.encode(middle.next_up()), bits + 1, "{dtype} past the tie above {bits:x}");
                assert_eq!(format.encode(-middle), even | format.sign_bit());
            }
        }
    }

    #[test]
    fn wide_formats_agree_with_the_hardware() {
        let f32_format = format(DType::F32).unwrap();
        let f64_format = format(DType::F64).unwrap();
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state);
            if value.is_nan() {
                continue;
            }
            assert_eq!(f32_format.encode(value), u64::from((value as f32).to_bits()), "{value:e}");
            assert_eq!(f64_format.encode(value), state);
            let single = f32::from_bits((state >> 32) as u32);
            if !single.is_nan() {
                assert_eq!(f32_format.decode(u64::from(single.to_bits())).to_bits(), f64::from(single).to_bits());
                assert_eq!(f32_format.encode(f64::from(single)), u64::from(single.to_bits()));
            }
        }
        for value in [f64::MIN_POSITIVE, 5e-324, -5e-324, 0.0, -0.0, f64::MAX] {
            assert_eq!(f64_format.encode(value), value.to_bits());
            assert_eq!(f64_format.decode(value.to_bits()).to_bits(), value.to_bits());
        }
    }

    #[test]
    fn overflow_goes_to_infinity_or_to_nan_where_there_is_none() {
        assert_eq!(format(DType::F16).unwrap().encode(65520.0), 0x7c00);
        assert_eq!(format(DType::F16).unwrap().encode(65519.999), 0x7bff);
        assert_eq!(format(DType::F8E4M3).unwrap().encode(1e9), 0x7f);
        assert_eq!(format(DType::F8E4M3).unwrap().largest(), 448.0);
        assert_eq!(format(DType::F8E5M2).unwrap().largest(), 57344.0);
        assert_eq!(format(DType::BF16).unwrap().epsilon(), 0.0078125);
        assert_eq!(format(DType::F64).unwrap().smallest(), 5e-324);
    }

    #[test]
    fn integers_round_trip_at_their_limits() {
        for &dtype in DType::ALL {
            if let Some((low, high)) = integer_range(dtype) {
                for value in [low, high, 0, 1] {
                    assert_eq!(decode_integer(dtype, encode_integer(dtype, value)), value, "{dtype}");
                }
            }
        }
    }

    #[test]
    fn float_poison_is_nan_and_not_the_canonical_one() {
        for &dtype in DType::ALL {
            if let Some(format) = format(dtype).filter(|format| format.top != Top::PowersOfTwo) {
                assert!(format.decode(poison(dtype)).is_nan(), "{dtype}");
                assert_ne!(poison(dtype), format.canonical_nan(), "{dtype}");
            }
        }
    }
}
