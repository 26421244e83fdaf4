// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Eight codes at a time, in the lower half of a 128-bit register.

use std::arch::x86_64::*;

use super::{CodeKind, E4M3, E4M3_SHIFT, E5M2, E5M2_SHIFT, Float8, I8_RANGE, prescale, round_and_rebias};

/// The values of eight codes.
///
/// # Safety
/// - The processor has AVX2 and F16C.
#[inline(always)]
pub(in crate::simd) unsafe fn widen(kind: CodeKind, codes: __m128i) -> __m256 {
    // SAFETY: the caller's clause.
    unsafe {
        match kind {
            CodeKind::F8E4M3 => {
                // One place lower than the upper byte, a code is an f16 of 2^-8 its value, subnormals too, which its
                // conversion takes in its stride. The shift fills bit 14 with the sign.
                let halves = _mm_srai_epi16::<1>(_mm_slli_epi16::<8>(_mm_cvtepu8_epi16(codes)));
                let halves = _mm_and_si128(halves, _mm_set1_epi16(0xbf80_u16 as i16));
                let values = _mm256_mul_ps(_mm256_cvtph_ps(halves), _mm256_set1_ps(256.0));
                // NaN comes out as the number after 448.
                let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), values);
                let nan = _mm256_cmp_ps::<_CMP_EQ_OQ>(magnitude, _mm256_set1_ps(480.0));
                _mm256_blendv_ps(values, _mm256_set1_ps(f32::NAN), nan)
            }
            CodeKind::F8E5M2 => _mm256_cvtph_ps(_mm_slli_epi16::<8>(_mm_cvtepu8_epi16(codes))),
            CodeKind::I8 => _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes)),
        }
    }
}

/// The codes that eight numbers round to.
///
/// # Safety
/// - The processor has AVX2.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow(kind: CodeKind, v: __m256) -> __m128i {
    // SAFETY: the caller's clause.
    unsafe {
        match kind {
            CodeKind::F8E4M3 => pack_unsigned(narrow_f8::<{ E4M3_SHIFT as i32 }>(E4M3, v)),
            CodeKind::F8E5M2 => pack_unsigned(narrow_f8::<{ E5M2_SHIFT as i32 }>(E5M2, v)),
            CodeKind::I8 => {
                let lanes = narrow_i8(v);
                let words = _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
                _mm_packs_epi16(words, words)
            }
        }
    }
}

/// The codes of eight numbers within the range, given with the prescale.
///
/// # Safety
/// - The processor has AVX2.
#[inline(always)]
pub(in crate::simd) unsafe fn narrow_bounded(kind: CodeKind, v: __m256, sign: __m256) -> __m128i {
    // SAFETY: the caller's clause.
    unsafe {
        match kind {
            CodeKind::F8E4M3 => {
                let smallest = E4M3.smallest_normal * prescale(kind);
                pack_unsigned(bounded_f8::<{ E4M3_SHIFT as i32 }>(smallest, v, sign))
            }
            CodeKind::F8E5M2 => {
                let smallest = E5M2.smallest_normal * prescale(kind);
                pack_unsigned(bounded_f8::<{ E5M2_SHIFT as i32 }>(smallest, v, sign))
            }
            CodeKind::I8 => {
                let lanes = _mm256_cvtps_epi32(v);
                let words = _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
                _mm_packs_epi16(words, words)
            }
        }
    }
}

/// Codes. A power of two is added whose spacing is that of the codes: the sum is rounded to one, its low bits count the steps
/// from the power on, and its exponent, moved down, the steps of the binades before.
///
/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn bounded_f8<const SHIFT: i32>(smallest_normal: f32, v: __m256, sign: __m256) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        let sign_bit = _mm256_set1_ps(-0.0);
        let exponent = _mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(0x7f80_0000));
        let exponent = _mm256_max_epi32(exponent, _mm256_set1_epi32(smallest_normal.to_bits() as i32));
        let (step, magnitude) = (_mm256_set1_ps((1_u32 << SHIFT) as f32), _mm256_andnot_ps(sign_bit, v));
        let sum = _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(exponent), step, magnitude));
        let steps = _mm256_add_epi32(_mm256_srli_epi32::<SHIFT>(sum), sum);
        let sign = _mm256_srli_epi32::<24>(_mm256_castps_si256(_mm256_and_ps(sign_bit, sign)));
        _mm256_or_si256(_mm256_and_si256(steps, _mm256_set1_epi32(0x7f)), sign)
    }
}

/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn pack_unsigned(lanes: __m256i) -> __m128i {
    // SAFETY: the caller's clause.
    unsafe {
        let words = _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        _mm_packus_epi16(words, words)
    }
}

/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn narrow_f8<const SHIFT: i32>(format: Float8, v: __m256) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        let sign_bit = _mm256_set1_ps(-0.0);
        // `min` gives its second operand where one is NaN.
        let magnitude = _mm256_min_ps(_mm256_set1_ps(format.largest), _mm256_andnot_ps(sign_bit, v));
        let kept = _mm256_castps_si256(magnitude);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<SHIFT>(kept), _mm256_set1_epi32(1));
        let carried = _mm256_add_epi32(kept, _mm256_set1_epi32(round_and_rebias(SHIFT as u32, format) as i32));
        let normal = _mm256_srli_epi32::<SHIFT>(_mm256_add_epi32(carried, odd));
        let sum = _mm256_castps_si256(_mm256_add_ps(magnitude, _mm256_set1_ps(format.rounder)));
        let subnormal = _mm256_sub_epi32(sum, _mm256_set1_epi32(format.rounder.to_bits() as i32));
        let small = _mm256_cmp_ps::<_CMP_LT_OQ>(magnitude, _mm256_set1_ps(format.smallest_normal));
        let code = _mm256_blendv_epi8(normal, subnormal, _mm256_castps_si256(small));
        // A NaN's bits come out above every code.
        let code = _mm256_min_epu32(code, _mm256_set1_epi32(i32::from(format.nan)));
        let ordered = _mm256_cmp_ps::<_CMP_ORD_Q>(v, v);
        let sign = _mm256_castps_si256(_mm256_and_ps(_mm256_and_ps(sign_bit, v), ordered));
        _mm256_or_si256(code, _mm256_srli_epi32::<24>(sign))
    }
}

/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn narrow_i8(v: __m256) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        let low = _mm256_max_ps(v, _mm256_set1_ps(I8_RANGE.0));
        let clamped = _mm256_min_ps(low, _mm256_set1_ps(I8_RANGE.1));
        _mm256_cvtps_epi32(_mm256_and_ps(clamped, _mm256_cmp_ps::<_CMP_ORD_Q>(v, v)))
    }
}
