// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Elements of one byte: codes of quantised numbers.
//!
//! Rounding to them is to the nearest value, ties to even, and saturates: what is beyond the largest finite code becomes
//! that code, infinities too. NaN becomes [`F8E4M3::NAN`] or [`F8E5M2::NAN`], without its sign, and 0 as an i8.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
pub(super) mod portable;
mod table;

use opweave_tensor::{Element, F8E4M3, F8E5M2};

pub use table::CodeTable;

/// The kinds of codes. Bodies match on the constant [`Code::KIND`], which leaves one arm of each match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeKind {
    /// [`F8E4M3`].
    F8E4M3,
    /// [`F8E5M2`].
    F8E5M2,
    /// Two's complement.
    I8,
}

/// A type of codes: one byte that kernels widen to f32 and saturate to.
pub trait Code: Element + Default {
    /// Which one.
    const KIND: CodeKind;
}

impl Code for F8E4M3 {
    const KIND: CodeKind = CodeKind::F8E4M3;
}

impl Code for F8E5M2 {
    const KIND: CodeKind = CodeKind::F8E5M2;
}

impl Code for i8 {
    const KIND: CodeKind = CodeKind::I8;
}

/// What rounding an f32 to an 8-bit float takes, besides the distance of their mantissas, which shifts need as a constant.
#[derive(Clone, Copy)]
struct Float8 {
    /// The largest number.
    largest: f32,
    /// The smallest number of the normal range.
    smallest_normal: f32,
    /// A power of two whose spacing in f32 is that of the subnormals: adding it rounds to one.
    rounder: f32,
    /// The difference of the exponents' biases, in the exponent's place.
    rebias: u32,
    /// The pattern of NaN; all larger ones are what a NaN's bits come out as.
    nan: u8,
}

const E4M3: Float8 = Float8 {
    largest: 448.0,
    smallest_normal: 1.0 / 64.0,
    // Subnormals are 2^-9 apart, f32 from 2^14 on is 2^(14 - 23).
    rounder: 16384.0,
    rebias: (127 - 7) << 23,
    nan: F8E4M3::NAN.to_bits(),
};
/// Bits of an f32's mantissa below that of an [`F8E4M3`].
const E4M3_SHIFT: u32 = 20;

const E5M2: Float8 = Float8 {
    largest: 57344.0,
    smallest_normal: 1.0 / 16384.0,
    // Subnormals are 2^-16 apart.
    rounder: 128.0,
    rebias: (127 - 15) << 23,
    nan: F8E5M2::NAN.to_bits(),
};
/// Bits of an f32's mantissa below that of an [`F8E5M2`].
const E5M2_SHIFT: u32 = 21;

/// What is added before the shift that drops an f32's mantissa down to that of an 8-bit float: the new bias, and half a
/// unit less one; the unit's own last bit makes ties even.
const fn round_and_rebias(shift: u32, format: Float8) -> u32 {
    ((1_u32 << (shift - 1)) - 1).wrapping_sub(format.rebias)
}

/// The power of two by which numbers are multiplied for [`Simd::store_bounded_code`](super::Simd::store_bounded_code): with
/// it, the exponent of an f32 leaves nothing in the lower bits of a code but the code's own.
pub const fn prescale(kind: CodeKind) -> f32 {
    match kind {
        CodeKind::F8E4M3 => 8.0,
        CodeKind::F8E5M2 => 1.0 / 64.0,
        CodeKind::I8 => 1.0,
    }
}

/// The power of two that brings the smallest number of a code to the same bit of an f32: the bits of a product with it go on to be
/// those of the code, subnormal ones too.
pub const fn whole_prescale(kind: CodeKind) -> f32 {
    match kind {
        CodeKind::F8E4M3 => f32::from_bits((127 - 120) << 23),
        CodeKind::F8E5M2 => f32::from_bits((127 - 112) << 23),
        CodeKind::I8 => 1.0,
    }
}

/// How many units of f32 a product of [`whole_prescale`] may be beside a tie and yet be taken for one. It is within two units of the
/// quotient: one for the rounded reciprocal, and half a unit for each rounding.
pub(in crate::simd) const NEAR_A_TIE: u32 = 4;

/// Numbers that convert to i8.
const I8_RANGE: (f32, f32) = (-128.0, 127.0);

#[cfg(test)]
mod tests;
