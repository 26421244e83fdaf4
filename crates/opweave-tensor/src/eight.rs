// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Elements of eight bits that Rust has no type for, as their patterns.
//!
//! The formats are those of the Open Compute Project's 8-bit floating point specification (2023) and, for the scale, of its
//! microscaling formats. These types hold a pattern and know its value; rounding to them is what kernels do.

use std::fmt;

macro_rules! patterns {
    ($($(#[$doc:meta])* $name:ident = $value:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Equality is that of patterns: a NaN equals itself, and the two zeros differ.
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
            #[repr(transparent)]
            pub struct $name(u8);

            impl $name {
                /// The element with this pattern.
                pub const fn from_bits(bits: u8) -> Self {
                    $name(bits)
                }

                /// The pattern.
                pub const fn to_bits(self) -> u8 {
                    self.0
                }

                /// The value, exactly.
                pub const fn to_f32(self) -> f32 {
                    $value(self.0)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.to_f32(), f)
                }
            }
        )*
    };
}

patterns! {
    /// Sign, four bits of exponent (bias 7), three of mantissa; no infinities, NaN with all bits set below the sign, largest
    /// number 448. Known as `float8_e4m3fn`.
    F8E4M3 = f8e4m3;
    /// Sign, five bits of exponent (bias 15), two of mantissa, infinities and NaN as in IEEE formats, largest number 57344.
    /// The upper half of an f16.
    F8E5M2 = f8e5m2;
    /// A power of two from 2^-127 to 2^127, its exponent plus 127; 255 is NaN. It has neither sign nor zero.
    F8E8M0 = f8e8m0;
}

impl F8E4M3 {
    /// The NaN that opweave writes.
    pub const NAN: F8E4M3 = F8E4M3(0x7f);
    /// 448.
    pub const MAX: F8E4M3 = F8E4M3(0x7e);
}

impl F8E5M2 {
    /// The NaN that opweave writes.
    pub const NAN: F8E5M2 = F8E5M2(0x7e);
    /// 57344.
    pub const MAX: F8E5M2 = F8E5M2(0x7b);
}

impl F8E8M0 {
    /// NaN.
    pub const NAN: F8E8M0 = F8E8M0(0xff);
    /// 1.
    pub const ONE: F8E8M0 = F8E8M0(127);
}

const fn f8e4m3(bits: u8) -> f32 {
    let sign = (bits as u32 & 0x80) << 24;
    let magnitude = bits as u32 & 0x7f;
    let value = match magnitude {
        // Subnormals: steps of 2^-9.
        0..8 => magnitude as f32 / 512.0,
        0x7f => f32::NAN,
        // The exponent's bias grows from 7 to 127.
        _ => f32::from_bits((magnitude << 20) + (120 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

const fn f8e5m2(bits: u8) -> f32 {
    let sign = (bits as u32 & 0x80) << 24;
    let magnitude = bits as u32 & 0x7f;
    let value = match magnitude {
        // Subnormals: steps of 2^-16.
        0..4 => magnitude as f32 / 65536.0,
        0x7c => f32::INFINITY,
        0x7d.. => f32::NAN,
        // The exponent's bias grows from 15 to 127.
        _ => f32::from_bits((magnitude << 21) + (112 << 23)),
    };
    f32::from_bits(value.to_bits() | sign)
}

const fn f8e8m0(bits: u8) -> f32 {
    match bits {
        // 2^-127 is a subnormal of f32.
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits((bits as u32) << 23),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: sign, exponent field and mantissa field, in f64.
    fn defined(bits: u8, mantissa_bits: u32, bias: i32) -> f64 {
        let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
        let exponent = i32::from((bits & 0x7f) >> mantissa_bits);
        let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
        match exponent {
            0 => sign * mantissa * 2_f64.powi(1 - bias),
            _ => sign * (1.0 + mantissa) * 2_f64.powi(exponent - bias),
        }
    }

    #[test]
    fn every_pattern_has_the_value_that_its_format_says() {
        for bits in 0..=u8::MAX {
            let (a, b) = (F8E4M3::from_bits(bits), F8E5M2::from_bits(bits));
            if bits & 0x7f == 0x7f {
                assert!(a.to_f32().is_nan());
            } else {
                assert_eq!(f64::from(a.to_f32()).to_bits(), defined(bits, 3, 7).to_bits(), "f8e4m3 {bits:02x}");
            }
            match bits & 0x7f {
                0x7c => assert_eq!(b.to_f32(), f32::INFINITY.copysign(if bits == 0x7c { 1.0 } else { -1.0 })),
                0x7d.. => assert!(b.to_f32().is_nan()),
                _ => assert_eq!(f64::from(b.to_f32()).to_bits(), defined(bits, 2, 15).to_bits(), "f8e5m2 {bits:02x}"),
            }
            let scale = F8E8M0::from_bits(bits).to_f32();
            match bits {
                255 => assert!(scale.is_nan()),
                _ => assert_eq!(f64::from(scale), 2_f64.powi(i32::from(bits) - 127), "f8e8m0 {bits:02x}"),
            }
        }
        assert_eq!((F8E4M3::MAX.to_f32(), F8E5M2::MAX.to_f32(), F8E8M0::ONE.to_f32()), (448.0, 57344.0, 1.0));
        assert!(F8E4M3::NAN.to_f32().is_nan() && F8E5M2::NAN.to_f32().is_nan() && F8E8M0::NAN.to_f32().is_nan());
    }
}
