// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Multiplications in place of divisions, for numbers that are looked at a line at a time.

use opweave_tensor::DType;

use super::encode::{Bounds, Coding};
use super::magnitude::{Activation, largest_within};
use crate::memory::CACHE_LINE;
use crate::simd::{Code, CodeKind, Simd, prescale, whole_prescale};

/// Multiplications in place of a division, where they are known to give every element the code that the division gives it;
/// see [`Product::of`]. With `ONCE`, one multiplication where there would be three operations.
#[derive(Clone, Copy)]
pub(super) struct Product<V, B, const ONCE: bool> {
    /// The reciprocal times the prescale.
    factor: V,
    /// The scale over the prescale, negated.
    divisor: V,
    /// The largest magnitude that is within the bounds, unless all are known to be.
    limit: Option<B>,
    /// What [`Simd::store_codes_apart`] takes, where it is worth trying.
    pub(super) apart: Option<f32>,
}

impl<V: Copy, B: Copy, const ONCE: bool> Product<V, B, ONCE> {
    /// What to multiply numbers within `bounds` by, if that does for the scale.
    ///
    /// A code changes between neighbours in f32 only at a tie between two codes: an odd number times a power of two, below 16
    /// or 32 for f8, below 256 for i8, below 512 where a zero point moves the codes.
    ///
    /// With `ONCE`, the product by the rounded reciprocal is within 2^-23 of the quotient in proportion. It has the quotient's
    /// code where no element comes that close to an odd multiple of the scale, which is looked at for all of them; a power of
    /// two divides without rounding. One scale in sixty fails for f16 and f8e4m3. A scale that was made of an element does:
    /// the largest codes are 7 times a power of two, so 7 times the scale is next to that element.
    ///
    /// Otherwise the product is corrected, `q + (x - q scale) r` with two fused operations, which leaves less than 2^-46 of the
    /// quotient before its rounding. So the result is the division's unless `x / scale` lies that close to the middle between
    /// two neighbours in f32, and the code is the division's unless, besides, one of the two is a tie. Such a middle times the
    /// 24 bits of the scale's significand has that significand itself, or its negative, in its last 17 bits; for `x`, whose
    /// bits end seven places above, to be within 16 units of that, the scale's last 17 bits are within 16 units of zero. Scales
    /// within 64 units of that, other than exactly there, are divided by. Exactly there the product stays 2^17 units away. Ties
    /// up to 512 have a bit more, and leave the last 16 bits: the rest is the same.
    ///
    /// The range keeps all intermediate values normal where they matter.
    #[inline(always)]
    pub(super) fn of<S: Simd<F32 = V, Bits = B>, T: Activation, C: Code>(
        s: S,
        coding: Coding,
        bounds: Bounds,
    ) -> Option<Self> {
        const RANGE: std::ops::RangeInclusive<f32> = 1.0 / (1_u64 << 60) as f32..=(1_u64 << 60) as f32;
        let scale = coding.scale;
        let safe = if ONCE {
            let bits = if matches!(T::DTYPE, DType::BF16) { 8 } else { 11 };
            is_apart(scale, bits, if matches!(C::KIND, CodeKind::F8E4M3) { 32 } else { 16 })
        } else {
            let mask = if coding.zero_point.is_some() { 0xffff } else { 0x1_ffff };
            let last = scale.to_bits() & mask;
            S::FUSED && (last == 0 || (64 < last && last <= mask - 64))
        };
        if !safe || !RANGE.contains(&scale) {
            return None;
        }
        let limit = match bounds {
            Bounds::Known(true) => None,
            Bounds::Known(false) => return None,
            Bounds::Quotient(most) => Some(T::splat_magnitude(s, largest_within::<T>(scale, most))),
        };
        let prescale = prescale(C::KIND);
        Some(Product {
            factor: s.splat(1.0 / scale * prescale),
            divisor: s.splat(-(scale / prescale)),
            limit,
            apart: apart::<S, T, C>(scale),
        })
    }

    /// Whether all numbers of a line are within the bounds.
    ///
    /// # Safety
    /// - `line` is valid for reading a line's elements.
    #[inline(always)]
    pub(super) unsafe fn admits<S: Simd<F32 = V, Bits = B>, T: Activation>(self, s: S, line: *const T) -> bool {
        let Some(limit) = self.limit else { return true };
        let step = T::PER_LANE * S::LANES;
        // SAFETY: the caller's clause: a line is a multiple of every vector.
        unsafe {
            let mut largest = T::load_magnitudes(s, line);
            let mut i = step;
            while i < CACHE_LINE {
                largest = T::larger(s, largest, T::load_magnitudes(s, line.add(i)));
                i += step;
            }
            !T::any_above(s, largest, limit)
        }
    }

    /// The quotient times the prescale. Zeros may lose their sign.
    #[inline(always)]
    pub(super) fn quotient<S: Simd<F32 = V, Bits = B>>(self, s: S, v: V) -> V {
        let q = s.mul(v, self.factor);
        if ONCE { q } else { s.fma(s.fma(q, self.divisor, v), self.factor, q) }
    }
}

/// What numbers of f32 are multiplied by for codes of f8, if products are likely to lie apart from ties. Under a power of two those of
/// numbers with few bits do not; and a factor below the normal range would have lost bits of its own.
#[inline(always)]
fn apart<S: Simd, T: Activation, C: Code>(scale: f32) -> Option<f32> {
    if const { !S::APART || T::NARROW || matches!(C::KIND, CodeKind::I8) } {
        return None;
    }
    let factor = 1.0 / scale * whole_prescale(C::KIND);
    (factor >= f32::MIN_POSITIVE && scale.to_bits() & 0x7f_ffff != 0).then_some(factor)
}

/// Whether `scale` is a power of two, or no odd number below `limit`, times its significand, comes within 2^-22 in proportion of
/// a number of `bits` significant bits.
#[inline(always)]
fn is_apart(scale: f32, bits: u32, limit: u32) -> bool {
    let significand = scale.to_bits() & 0x7f_ffff | 0x80_0000;
    if significand == 0x80_0000 {
        return true;
    }
    let near = (1..limit).step_by(2).fold(false, |near, t| {
        let product = t * significand;
        // The first bit in front: what is behind the first `bits` is how far the product is above a number of that many.
        let behind = product << product.leading_zeros() << bits;
        near | (behind.wrapping_add(1 << (10 + bits)) <= 2 << (10 + bits))
    });
    !near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_whose_multiples_have_few_bits_are_not_apart() {
        // A power of two divides without rounding; 3 has two bits, and three thirds have one.
        for (scale, bits, limit, apart) in [
            (1.0, 11, 32, true),
            (0.75, 8, 16, false),
            (1.0 / 3.0, 11, 32, false),
            (0.013, 11, 32, true),
            (0.013, 8, 16, true),
            // 2049 has one bit more than f16 has, 2047 as many.
            (2049.0 / 2048.0, 11, 2, true),
            (f32::from_bits((2049.0_f32 / 1024.0).to_bits() + 1), 11, 2, true),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 1), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() - 1), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 4), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 5), 11, 2, true),
        ] {
            assert_eq!(is_apart(scale, bits, limit), apart, "{scale} {bits} {limit}");
        }
    }
}
