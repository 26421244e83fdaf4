// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sixteen codes at a time.

use std::arch::x86_64::*;

use super::{CodeKind, E4M3, E4M3_SHIFT, E5M2, E5M2_SHIFT, Float8, I8_RANGE, prescale, round_and_rebias};

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
