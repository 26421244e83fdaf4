// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sixteen codes at a time, or a line of 64.

use std::arch::x86_64::*;

use opweave_tensor::DType;

use super::table::{CodeTable, shifts};
use super::{CodeKind, E4M3, E4M3_SHIFT, E5M2, E5M2_SHIFT, Float8, I8_RANGE, NEAR_A_TIE, prescale, round_and_rebias};

/// The values of sixteen codes.
///
/// # Safety
/// - The processor has AVX-512 F, BW and VL.
#[inline(always)]
pub(in crate::simd) unsafe fn widen(kind: CodeKind, codes: __m128i) -> __m512 {
    // SAFETY: the caller's clause.
    unsafe {
        match kind {
            CodeKind::F8E4M3 => {
                // One place lower than the upper byte, a code is an f16 of 2^-8 its value, subnormals too, which its
                // conversion takes in its stride. The shift fills bit 14 with the sign.
                let halves = _mm256_srai_epi16::<1>(_mm256_slli_epi16::<8>(_mm256_cvtepu8_epi16(codes)));
                let halves = _mm256_and_si256(halves, _mm256_set1_epi16(0xbf80_u16 as i16));
                let values = _mm512_mul_ps(_mm512_cvtph_ps(halves), _mm512_set1_ps(256.0));
                // NaN comes out as the number after 448.
                let nan = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(_mm512_abs_ps(values), _mm512_set1_ps(480.0));
                _mm512_mask_blend_ps(nan, values, _mm512_set1_ps(f32::NAN))
            }
            CodeKind::F8E5M2 => _mm512_cvtph_ps(_mm256_slli_epi16::<8>(_mm256_cvtepu8_epi16(codes))),
            CodeKind::I8 => _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(codes)),
        }
    }
}

/// The codes that sixteen numbers round to.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow(kind: CodeKind, v: __m512) -> __m128i {
    // SAFETY: the caller's clause.
    unsafe {
        let lanes = match kind {
            CodeKind::F8E4M3 => narrow_f8::<E4M3_SHIFT>(E4M3, v),
            CodeKind::F8E5M2 => narrow_f8::<E5M2_SHIFT>(E5M2, v),
            CodeKind::I8 => narrow_i8(v),
        };
        _mm512_cvtepi32_epi8(lanes)
    }
}

/// The codes of sixteen numbers within the range, given with the prescale.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow_bounded(kind: CodeKind, v: __m512, sign: __m512) -> __m128i {
    // SAFETY: the caller's clause.
    unsafe {
        let lanes = match kind {
            CodeKind::F8E4M3 => bounded_f8::<E4M3_SHIFT>(E4M3.smallest_normal * prescale(kind), v, sign),
            CodeKind::F8E5M2 => bounded_f8::<E5M2_SHIFT>(E5M2.smallest_normal * prescale(kind), v, sign),
            CodeKind::I8 => _mm512_cvtps_epi32(v),
        };
        _mm512_cvtepi32_epi8(lanes)
    }
}

/// The same for four vectors, in their order.
///
/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow_bounded_line(kind: CodeKind, v: [__m512; 4], sign: [__m512; 4]) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let mut lanes = [_mm512_setzero_si512(); 4];
        for ((lanes, v), sign) in lanes.iter_mut().zip(v).zip(sign) {
            *lanes = match kind {
                CodeKind::F8E4M3 => bounded_f8::<E4M3_SHIFT>(E4M3.smallest_normal * prescale(kind), v, sign),
                CodeKind::F8E5M2 => bounded_f8::<E5M2_SHIFT>(E5M2.smallest_normal * prescale(kind), v, sign),
                CodeKind::I8 => _mm512_cvtps_epi32(v),
            };
        }
        let [a, b, c, d] = lanes;
        let bytes = if matches!(kind, CodeKind::I8) {
            _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d))
        } else {
            let byte = _mm512_set1_epi32(0xff);
            let (a, b) = (_mm512_and_si512(a, byte), _mm512_and_si512(b, byte));
            let (c, d) = (_mm512_and_si512(c, byte), _mm512_and_si512(d, byte));
            _mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d))
        };
        in_order(bytes)
    }
}

/// The codes of f8 of four vectors of numbers, given with [`super::whole_prescale`]; `None` where one of them may be next to a tie.
///
/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow_apart_line(kind: CodeKind, v: [__m512; 4]) -> Option<__m512i> {
    // SAFETY: the caller's clause.
    unsafe {
        match kind {
            CodeKind::F8E4M3 => apart_line::<E4M3_SHIFT, { E4M3_SHIFT - 16 }>(v),
            CodeKind::F8E5M2 => apart_line::<E5M2_SHIFT, { E5M2_SHIFT - 16 }>(v),
            CodeKind::I8 => None,
        }
    }
}

/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline(always)]
unsafe fn apart_line<const SHIFT: u32, const WORD_SHIFT: u32>(v: [__m512; 4]) -> Option<__m512i> {
    const ODD: [i16; 32] = {
        let mut odd = [0; 32];
        let mut i = 0;
        while i < 32 {
            odd[i] = 2 * i as i16 + 1;
            i += 1;
        }
        odd
    };
    // SAFETY: the caller's clause; the table holds 32 words.
    unsafe {
        // Half a code, so that what is beyond a tie carries, and the units before it that are in doubt.
        let half = _mm512_set1_epi32(((1 << (SHIFT - 1)) + NEAR_A_TIE) as i32);
        let sums = [
            _mm512_add_epi32(_mm512_castps_si512(v[0]), half),
            _mm512_add_epi32(_mm512_castps_si512(v[1]), half),
            _mm512_add_epi32(_mm512_castps_si512(v[2]), half),
            _mm512_add_epi32(_mm512_castps_si512(v[3]), half),
        ];
        // What is behind the carry: next to a tie it has just begun, or is about to.
        let behind = _mm512_set1_epi32((1 << SHIFT) - 1);
        let first = _mm512_min_epu32(_mm512_and_si512(sums[0], behind), _mm512_and_si512(sums[1], behind));
        let second = _mm512_min_epu32(_mm512_and_si512(sums[2], behind), _mm512_and_si512(sums[3], behind));
        let doubt = _mm512_set1_epi32(2 * NEAR_A_TIE as i32);
        if _mm512_cmplt_epu32_mask(_mm512_min_epu32(first, second), doubt) != 0 {
            return None;
        }
        let odd = _mm512_loadu_si512(ODD.as_ptr().cast());
        let words = [
            code_words::<WORD_SHIFT>(_mm512_permutex2var_epi16(sums[0], odd, sums[1])),
            code_words::<WORD_SHIFT>(_mm512_permutex2var_epi16(sums[2], odd, sums[3])),
        ];
        // Packing takes quarters of both in turns.
        let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
        Some(_mm512_permutexvar_epi64(order, _mm512_packs_epi16(words[0], words[1])))
    }
}

/// Upper words of sums, brought to codes as signed numbers: what is above a code's own seven bits is the sign.
///
/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline(always)]
unsafe fn code_words<const SHIFT: u32>(words: __m512i) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        // The upper half of the sign's shift is all sign: nothing is left between it and a code.
        let (code, sign) = (_mm512_srli_epi16::<SHIFT>(words), _mm512_srai_epi16::<8>(words));
        _mm512_ternarylogic_epi32::<0xca>(_mm512_set1_epi16(0x7f), code, sign)
    }
}

/// The codes of i8 of four vectors of numbers below 2^30, moved by a zero point: in words, which end where words do, far beyond the codes.
///
/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline(always)]
pub(in crate::simd) unsafe fn moved_line([a, b, c, d]: [__m512; 4], zero_point: i16, lowest: i8) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let zero_point = _mm512_set1_epi16(zero_point);
        let first = _mm512_packs_epi32(_mm512_cvtps_epi32(a), _mm512_cvtps_epi32(b));
        let second = _mm512_packs_epi32(_mm512_cvtps_epi32(c), _mm512_cvtps_epi32(d));
        let bytes = _mm512_packs_epi16(_mm512_adds_epi16(first, zero_point), _mm512_adds_epi16(second, zero_point));
        in_order(_mm512_max_epi8(bytes, _mm512_set1_epi8(lowest)))
    }
}

/// Quarters of lanes that packing took of each operand in turns, in the order of the operands.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn in_order(bytes: __m512i) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
        _mm512_permutexvar_epi32(order, bytes)
    }
}

/// Writes 64 bytes; with `STREAM`, past the caches, `p` being aligned to 16.
///
/// # Safety
/// - The processor has AVX-512 F; `p` is valid for writing 64 bytes, aligned to 16 if streamed.
#[inline(always)]
pub(in crate::simd) unsafe fn store_line<const STREAM: bool>(p: *mut u8, bytes: __m512i) {
    // SAFETY: the caller's clauses.
    unsafe {
        if !STREAM {
            _mm512_storeu_si512(p.cast(), bytes);
        } else if (p as usize).is_multiple_of(64) {
            _mm512_stream_si512(p.cast(), bytes);
        } else {
            let p = p.cast::<__m128i>();
            _mm_stream_si128(p, _mm512_castsi512_si128(bytes));
            _mm_stream_si128(p.add(1), _mm512_extracti32x4_epi32::<1>(bytes));
            _mm_stream_si128(p.add(2), _mm512_extracti32x4_epi32::<2>(bytes));
            _mm_stream_si128(p.add(3), _mm512_extracti32x4_epi32::<3>(bytes));
        }
    }
}

/// A [`CodeTable`] in registers.
#[derive(Clone, Copy)]
pub struct Table {
    addend: [__m512i; 2],
    below: __m512i,
    limit: __m512i,
    top: __m512i,
}

impl Table {
    /// The registers of a table for these types.
    ///
    /// # Safety
    /// - The processor has AVX-512 F and BW.
    #[inline(always)]
    pub(in crate::simd) unsafe fn new(dtype: DType, kind: CodeKind, table: &CodeTable) -> Table {
        // No table is made of other types.
        let (cell, step) = shifts(dtype, kind).unwrap_or((0, 0));
        // SAFETY: the caller's clause.
        unsafe {
            let numbers = _mm512_set_epi16(
                31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5,
                4, 3, 2, 1, 0,
            );
            let by = _mm_cvtsi32_si128(cell as i32);
            let first =
                [_mm512_sll_epi16(numbers, by), _mm512_sll_epi16(_mm512_add_epi16(numbers, _mm512_set1_epi16(32)), by)];
            let size = _mm512_set1_epi16(1 << cell);
            let next = [_mm512_add_epi16(first[0], size), _mm512_add_epi16(first[1], size)];
            // As `CodeTable::addend` says, for all cells at once.
            let (mut codes, mut last) = ([_mm512_set1_epi16(table.none as i16); 2], first);
            let code = _mm512_set1_epi16(1 << step);
            let count = if matches!(kind, CodeKind::F8E5M2) { 8 } else { 16 };
            for &stair in &table.stairs[..count] {
                let stair = _mm512_set1_epi16(stair as i16);
                for half in 0..2 {
                    let passed = _mm512_cmplt_epu16_mask(stair, next[half]);
                    codes[half] = _mm512_mask_add_epi16(codes[half], passed, codes[half], code);
                    last[half] = _mm512_mask_max_epu16(last[half], passed, last[half], stair);
                }
            }
            Table {
                addend: [_mm512_sub_epi16(codes[0], last[0]), _mm512_sub_epi16(codes[1], last[1])],
                below: _mm512_set1_epi16(table.below as i16),
                limit: _mm512_set1_epi16(table.limit as i16),
                top: _mm512_set1_epi16(table.top as i16),
            }
        }
    }

    /// Whether all of these are zero or between the table's ends.
    ///
    /// # Safety
    /// - The processor has AVX-512 F and BW.
    #[inline(always)]
    pub(in crate::simd) unsafe fn knows(self, [a, b]: [__m512i; 2]) -> bool {
        // SAFETY: the caller's clause.
        unsafe {
            let (magnitude, one) = (_mm512_set1_epi16(0x7fff), _mm512_set1_epi16(1));
            let (a, b) = (_mm512_and_si512(a, magnitude), _mm512_and_si512(b, magnitude));
            // One less than zero is above all.
            let least = _mm512_min_epu16(_mm512_sub_epi16(a, one), _mm512_sub_epi16(b, one));
            let most = _mm512_max_epu16(a, b);
            _mm512_cmplt_epu16_mask(least, self.below) | _mm512_cmpge_epu16_mask(most, self.top) == 0
        }
    }

    /// The codes of what the table knows.
    ///
    /// # Safety
    /// - The processor has AVX-512 F and BW.
    #[inline(always)]
    pub(in crate::simd) unsafe fn codes(self, dtype: DType, kind: CodeKind, [a, b]: [__m512i; 2]) -> __m512i {
        // SAFETY: the caller's clause.
        unsafe {
            let (a, b) = match shifts(dtype, kind) {
                Some((1, 4)) => (self.words::<1, 4>(a), self.words::<1, 4>(b)),
                Some((1, 5)) => (self.words::<1, 5>(a), self.words::<1, 5>(b)),
                Some((4, 7)) => (self.words::<4, 7>(a), self.words::<4, 7>(b)),
                Some((4, 8)) => (self.words::<4, 8>(a), self.words::<4, 8>(b)),
                // No table is made of other types.
                _ => (a, b),
            };
            // Packing takes quarters of both in turns.
            let order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
            _mm512_permutexvar_epi64(order, _mm512_packus_epi16(a, b))
        }
    }

    /// Codes in words.
    ///
    /// # Safety
    /// - The processor has AVX-512 F and BW.
    #[inline(always)]
    unsafe fn words<const CELL: u32, const STEP: u32>(self, x: __m512i) -> __m512i {
        // SAFETY: the caller's clause.
        unsafe {
            let magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));
            let kept = _mm512_min_epu16(magnitude, self.limit);
            // The lookup takes the last six bits.
            let addend = _mm512_permutex2var_epi16(self.addend[0], _mm512_srli_epi16::<CELL>(kept), self.addend[1]);
            let sum = _mm512_maskz_add_epi16(_mm512_test_epi16_mask(magnitude, magnitude), kept, addend);
            let sign = _mm512_srli_epi16::<8>(x);
            // The sign's bit from the one, all others from the other.
            _mm512_ternarylogic_epi32::<0xca>(_mm512_set1_epi16(0x80), sign, _mm512_srli_epi16::<STEP>(sum))
        }
    }
}

/// Codes in the lower byte of each lane. A power of two is added whose spacing is that of the codes: the sum is rounded to
/// one, its low bits count the steps from the power on, and its exponent, moved down, the steps of the binades before.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn bounded_f8<const SHIFT: u32>(smallest_normal: f32, v: __m512, sign: __m512) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let exponent = _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(0x7f80_0000));
        let exponent = _mm512_max_epi32(exponent, _mm512_set1_epi32(smallest_normal.to_bits() as i32));
        let step = _mm512_set1_ps((1_u32 << SHIFT) as f32);
        let sum = _mm512_castps_si512(_mm512_fmadd_ps(_mm512_castsi512_ps(exponent), step, _mm512_abs_ps(v)));
        let steps = _mm512_add_epi32(_mm512_srli_epi32::<SHIFT>(sum), sum);
        let sign = _mm512_srli_epi32::<24>(_mm512_castps_si512(sign));
        // The sign's bit from the one, all others from the other.
        _mm512_ternarylogic_epi32::<0xca>(_mm512_set1_epi32(0x80), sign, steps)
    }
}

/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn narrow_f8<const SHIFT: u32>(format: Float8, v: __m512) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        // `min` gives its second operand where one is NaN.
        let magnitude = _mm512_min_ps(_mm512_set1_ps(format.largest), _mm512_abs_ps(v));
        let kept = _mm512_castps_si512(magnitude);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<SHIFT>(kept), _mm512_set1_epi32(1));
        let carried = _mm512_add_epi32(kept, _mm512_set1_epi32(round_and_rebias(SHIFT, format) as i32));
        let normal = _mm512_srli_epi32::<SHIFT>(_mm512_add_epi32(carried, odd));
        let sum = _mm512_castps_si512(_mm512_add_ps(magnitude, _mm512_set1_ps(format.rounder)));
        let subnormal = _mm512_sub_epi32(sum, _mm512_set1_epi32(format.rounder.to_bits() as i32));
        let small = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(magnitude, _mm512_set1_ps(format.smallest_normal));
        let code = _mm512_mask_blend_epi32(small, normal, subnormal);
        // A NaN's bits come out above every code.
        let code = _mm512_min_epu32(code, _mm512_set1_epi32(i32::from(format.nan)));
        let sign = _mm512_and_si512(_mm512_srli_epi32::<24>(_mm512_castps_si512(v)), _mm512_set1_epi32(0x80));
        _mm512_mask_or_epi32(code, _mm512_cmp_ps_mask::<_CMP_ORD_Q>(v, v), code, sign)
    }
}

/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn narrow_i8(v: __m512) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let low = _mm512_max_ps(v, _mm512_set1_ps(I8_RANGE.0));
        let clamped = _mm512_min_ps(low, _mm512_set1_ps(I8_RANGE.1));
        _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask::<_CMP_ORD_Q>(v, v), clamped)
    }
}
