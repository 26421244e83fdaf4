// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The codes of 16-bit numbers under one scale, as integers made of their bits.
//!
//! An 8-bit float goes on like a logarithm: one more in the exponent of a number is `2^P` more in its code, `P` being the bits of the
//! code's mantissa. Within a binade the code is a staircase of the number's mantissa, the same for all binades. So with `u`, the bits of a
//! magnitude, `code = (u + addend) >> (MANTISSA - P)`, where the addend depends on the first six bits of the mantissa alone: a cell of
//! mantissas that share these has one stair at most, and the addend is chosen such that the carry comes exactly there.
//!
//! Where the stairs are is computed in integers. For a number `M 2^e` and a scale `S 2^f`, whose significands have `MANTISSA + 1` and 24
//! bits, the quotient is compared with a tie between two codes after rounding to f32, as a division would do: a tie that
//! goes up is reached from half a unit of f32 below it on, one that goes down is left beyond half a unit above. Both are comparisons of
//! `M 2^k` with a product of `S`.

use opweave_tensor::DType;

use super::CodeKind;

/// A cell of mantissas shares this many bits.
const CELL_BITS: u32 = 6;

/// Bits of the mantissa of a 16-bit type, and the bias of its exponent; `None` for other types.
const fn mantissa_of(dtype: DType) -> Option<(u32, i32)> {
    match dtype {
        DType::F16 => Some((10, 15)),
        DType::BF16 => Some((7, 127)),
        _ => None,
    }
}

/// Bits of the mantissa of a code, the bias of its exponent, and the largest number's exponent: that number is 1.75 times
/// that power of two in both formats.
const fn format_of(kind: CodeKind) -> Option<(u32, i32, i32)> {
    match kind {
        CodeKind::F8E4M3 => Some((3, 7, 8)),
        CodeKind::F8E5M2 => Some((2, 15, 15)),
        CodeKind::I8 => None,
    }
}

/// By how many bits a magnitude is shifted for its cell, and the sum with the addend for its code.
pub(in crate::simd) const fn shifts(dtype: DType, kind: CodeKind) -> Option<(u32, u32)> {
    match (mantissa_of(dtype), format_of(kind)) {
        (Some((mantissa, _)), Some((places, ..))) => Some((mantissa - CELL_BITS, mantissa - places)),
        _ => None,
    }
}

/// The most stairs that any format has.
pub(in crate::simd) const MOST_STAIRS: usize = 16;

/// What makes codes of magnitudes under one scale. Plain data; instruction sets make registers of it.
#[derive(Clone, Copy, Debug)]
pub struct CodeTable {
    /// Mantissas with which codes go up by one: all that are above half a scale and below twice a scale, in order. One past the last
    /// mantissa stands for what is above it, zero for what is below the first.
    pub(in crate::simd) stairs: [u16; MOST_STAIRS],
    /// The addend before the first stair, but for the start of the cell, modulo 2^16.
    pub(in crate::simd) none: u16,
    /// The smallest magnitude, less one, that is a normal number and whose quotient is a normal number of the codes' format. Below it
    /// only zero is known, as 0.
    pub(in crate::simd) below: u16,
    /// A magnitude with the largest code. Larger ones are taken for it.
    pub(in crate::simd) limit: u16,
    /// From here on nothing is known: NaN, and infinity where no number has the largest code.
    pub(in crate::simd) top: u16,
}

impl CodeTable {
    /// The table of `scale`, from numbers of `dtype` to codes of `kind`. `None` for types without one, for a scale that is not a number
    /// between 2^-60 and 2^60, and for one under which no quotient is a normal number of the format and within it.
    #[inline(always)]
    pub fn new(dtype: DType, kind: CodeKind, scale: f32) -> Option<CodeTable> {
        const RANGE: std::ops::RangeInclusive<f32> = 1.0 / (1_u64 << 60) as f32..=(1_u64 << 60) as f32;
        let ((mantissa, bias), (places, code_bias, most)) = (mantissa_of(dtype)?, format_of(kind)?);
        if !RANGE.contains(&scale) {
            return None;
        }
        let significand = u64::from(scale.to_bits() & 0x7f_ffff | 0x80_0000);
        let exponent = (scale.to_bits() >> 23) as i32 - 127;
        // A magnitude's bits from its exponent, less the scale's, and its significand.
        let one = 1_i32 << mantissa;
        let bits = |e: i32, significand: u64| ((e + exponent + bias) << mantissa) + significand as i32 - one;
        let divide = |product: u64, by: u32| product.div_ceil(1 << by);

        let normal = bits(1 - code_bias, divide(significand, 23 - mantissa)).max(one);
        let infinity = ((1 << (15 - mantissa)) - 1) << mantissa;
        let largest = match divide(7 * significand, 25 - mantissa) {
            m if m < 2 << mantissa => bits(most, m),
            _ => bits(most + 1, divide(7 * significand, 26 - mantissa)),
        };
        let (limit, top) = if largest < infinity { (largest, infinity + 1) } else { (infinity - 1, infinity) };
        if limit < normal {
            return None;
        }
        let shift = (code_bias - bias - exponent) << mantissa;
        // Codes are counted from that of half a scale.
        let none = (shift - one) as u16;
        let stairs = stairs(mantissa, places, significand);
        Some(CodeTable { stairs, none, below: (normal - 1) as u16, limit: limit as u16, top: top as u16 })
    }

    /// The addend of a cell: of the stairs that its last mantissa is beyond, as many codes as they are, and what brings the carry to the
    /// last of them, or to the cell's start.
    #[cfg(test)]
    fn addend(&self, (cell, step): (u32, u32), index: u16) -> u16 {
        let (first, next) = (index << cell, (index + 1) << cell);
        let passed = self.stairs.iter().filter(|&&stair| stair < next);
        let last = passed.clone().fold(first, |last, &stair| last.max(stair));
        self.none.wrapping_add((passed.count() as u16) << step).wrapping_sub(last)
    }

    /// The code of a magnitude with a sign of zero; `None` where the table does not know it.
    #[cfg(test)]
    pub(in crate::simd) fn code(&self, dtype: DType, kind: CodeKind, magnitude: u16) -> Option<u8> {
        let (cell, step) = shifts(dtype, kind)?;
        if magnitude == 0 {
            return Some(0);
        }
        let known = magnitude > self.below && magnitude < self.top;
        let kept = magnitude.min(self.limit);
        let addend = self.addend((cell, step), (kept >> cell) % (1 << CELL_BITS));
        known.then(|| (kept.wrapping_add(addend) >> step) as u8)
    }
}

/// The first mantissa with a code beyond the `i`th, counted from that of half a scale, for each `i`; those that a format does not have
/// are beyond all mantissas.
#[inline(always)]
fn stairs(mantissa: u32, places: u32, significand: u64) -> [u16; MOST_STAIRS] {
    let mut stairs = [1 << mantissa; MOST_STAIRS];
    for i in 0..1_u64 << places {
        // Below a scale the tie is an odd multiple of `2^-(places + 2)`, and units of f32 are half as large as above.
        let (near, far) = (2 * ((1 << places) + i) + 1, 4 * i + 2);
        let low = stair(significand, near << (23 - places), 48 - mantissa, i);
        let high = stair(significand, (far + (4 << places)) << (22 - places), 47 - mantissa, i);
        let within = |m: u64| m.clamp(1 << mantissa, 2 << mantissa) as u16 - (1 << mantissa);
        stairs[i as usize] = within(low);
        stairs[i as usize + (1 << places)] = within(high);
    }
    stairs
}

/// The smallest significand `m` for which `m 2^k` is beyond the tie: from an odd code a tie goes up.
#[inline(always)]
fn stair(significand: u64, tie: u64, k: u32, code: u64) -> u64 {
    if code % 2 == 1 { (significand * (tie - 1)).div_ceil(1 << k) } else { ((significand * (tie + 1)) >> k) + 1 }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;
    use crate::simd::code::portable::narrow;

    /// Every magnitude that a table knows, under scales of all kinds, has the code of the division; and the tables know all that they
    /// should.
    #[test]
    fn every_magnitude_has_the_code_of_the_division() {
        let mut scales = vec![
            1.0,
            0.75,
            1.0 / 3.0,
            1.75,
            f32::from_bits(0x3fff_ffff),
            f32::from_bits(0x3f80_0001),
            0.013,
            3e4,
            1e-3,
        ];
        // Numbers of few bits and their neighbours, and such that make an element the largest.
        scales.extend((0..12).map(|i| f32::from_bits(0x3c00_0000 + ((i * 7919) % 2048) * 0x1_0000 + i % 3 - 1)));
        scales.extend((1..12).map(|i| (1.0 + i as f32 / 16.0) / [448.0, 57344.0][i % 2]));
        let mut unknown = 0_u32;
        for scale in scales {
            for dtype in [DType::F16, DType::BF16] {
                for kind in [CodeKind::F8E4M3, CodeKind::F8E5M2] {
                    let table = CodeTable::new(dtype, kind, scale).expect("a scale that is usual");
                    for magnitude in 0..0x8000_u16 {
                        let x = if dtype == DType::F16 {
                            f16::from_bits(magnitude).to_f32()
                        } else {
                            bf16::from_bits(magnitude).to_f32()
                        };
                        let expected = narrow(kind, x / scale);
                        match table.code(dtype, kind, magnitude) {
                            Some(code) => assert_eq!(code, expected, "{dtype} {kind:?} {x:e} / {scale:e}"),
                            None => {
                                let smallest = if kind == CodeKind::F8E4M3 { 1.0 / 64.0 } else { 1.0 / 16384.0 };
                                let normal = magnitude >= if dtype == DType::F16 { 1 << 10 } else { 1 << 7 };
                                assert!(
                                    !(normal && x.is_finite() && x / scale >= smallest),
                                    "{dtype} {kind:?} {x:e} / {scale:e}"
                                );
                                unknown += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(unknown > 0);
    }

    #[test]
    fn there_is_no_table_for_what_is_no_scale() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e30] {
            assert!(CodeTable::new(DType::BF16, CodeKind::F8E4M3, scale).is_none(), "{scale}");
        }
        assert!(CodeTable::new(DType::F32, CodeKind::F8E4M3, 1.0).is_none());
        assert!(CodeTable::new(DType::BF16, CodeKind::I8, 1.0).is_none());
        // Every f16 saturates, or vanishes.
        assert!(CodeTable::new(DType::F16, CodeKind::F8E4M3, 1e-12).is_none());
        assert!(CodeTable::new(DType::F16, CodeKind::F8E4M3, 1e12).is_none());
    }
}
