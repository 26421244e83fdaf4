// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! bf16 in vectors of 512 bits: widened by a shift, rounded by the processor's own conversion or by integers.
//!
//! Which of the two is a question of the processor, asked at every rounding: the answer is the same each time, and so is foreseen. A type for each
//! would compile every kernel of bf16 twice.

use std::arch::asm;
use std::arch::x86_64::*;

const LANES: usize = 16;

/// Rounds each 32-bit lane to bf16, left in the lane's upper half with anything below it: with integers, for every number.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn rounded(v: __m512) -> __m512i {
    // SAFETY: the caller's clause.
    unsafe {
        let bits = _mm512_castps_si512(v);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let carried = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
        // Rounding could carry a NaN to infinity or zero; with the quiet bit set instead it stays one.
        let unordered = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
        _mm512_mask_or_epi32(carried, unordered, bits, _mm512_set1_epi32(0x40_0000))
    }
}

/// The same for every number but NaN, in two instructions: a carry from half of the last place that is kept, less one unless that place
/// is odd, comes out of one product of 16-bit words. As assembly, since the compiler takes the product and its sum apart.
///
/// # Safety
/// - The processor has AVX-512 F and VNNI.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn carried(v: __m512) -> __m512i {
    let bits = _mm512_castps_si512(v);
    // Words of -1 - odd and of -1, times -1 and -32766: 0x7fff + odd.
    let ones = _mm512_xor_si512(bits, _mm512_set1_epi32(-1));
    let words = _mm512_or_si512(ones, _mm512_set1_epi32(0xfffe_ffff_u32 as i32));
    let factors = _mm512_set1_epi32(0xffff_8002_u32 as i32);
    let mut sum = bits;
    // SAFETY: the caller's clause; the instruction touches nothing but its registers.
    unsafe {
        asm!("vpdpwssd {sum}, {words}, {factors}", sum = inout(zmm_reg) sum, words = in(zmm_reg) words,
            factors = in(zmm_reg) factors, options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

/// Upper words of two vectors: those of `odd` in place, those of `even` below them. As assembly, since the compiler makes a permutation of
/// two vectors of it, which is three instructions' work.
///
/// # Safety
/// - The processor has AVX-512 F and BW.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn upper_words(even: __m512i, odd: __m512i) -> __m512i {
    let down = _mm512_set4_epi32(0x0f0e_0f0e, 0x0b0a_0b0a, 0x0706_0706, 0x0302_0302);
    let mut words = odd;
    // SAFETY: the caller's clause; the instruction touches nothing but its registers.
    unsafe {
        asm!("vpshufb {words}{{{low}}}, {even}, {down}", words = inout(zmm_reg) words, low = in(kreg) 0x3333_3333_3333_3333_u64,
            even = in(zmm_reg) even, down = in(zmm_reg) down, options(pure, nomem, nostack, preserves_flags));
    }
    words
}

/// Lanes that the processor's own conversion to bf16 would take for zero: those below the normal range.
///
/// # Safety
/// - The processor has AVX-512 F and DQ.
#[inline(always)]
unsafe fn subnormal(v: __m512) -> u16 {
    // SAFETY: the caller's clause.
    unsafe { _mm512_fpclass_ps_mask::<0x20>(v) }
}

/// Whether one of two lanes in the same place is NaN, which a carry could take to infinity or zero.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn unordered(a: __m512, b: __m512) -> bool {
    // SAFETY: the caller's clause.
    unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b) != 0 }
}

/// `v` rounded by the processor's own conversion. Not by its intrinsic: every body would then be compiled for processors that have it.
///
/// # Safety
/// - The processor has AVX-512 F and BF16.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn converted_one(v: __m512) -> __m256i {
    let halves: __m256i;
    // SAFETY: the caller's clause; the instruction touches nothing but its registers, not even the status of the unit.
    unsafe {
        asm!("vcvtneps2bf16 {halves:y}, {v}", halves = lateout(zmm_reg) halves, v = in(zmm_reg) v,
            options(pure, nomem, nostack, preserves_flags));
    }
    halves
}

/// The same of two vectors: all of `low`, then all of `high`.
///
/// # Safety
/// - The processor has AVX-512 F and BF16.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn converted_two(low: __m512, high: __m512) -> __m512i {
    let halves: __m512i;
    // SAFETY: as in `converted_one`.
    unsafe {
        asm!("vcvtne2ps2bf16 {halves}, {high}, {low}", halves = lateout(zmm_reg) halves, high = in(zmm_reg) high,
            low = in(zmm_reg) low, options(pure, nomem, nostack, preserves_flags));
    }
    halves
}

/// Rounds a vector to bf16.
///
/// # Safety
/// - The processor has AVX-512 F, BW, DQ, VL and VNNI, and BF16 if it `converts`.
#[inline(always)]
pub(super) unsafe fn rounded_one(converts: bool, v: __m512) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        if converts {
            if subnormal(v) != 0 {
                return rounded_rare(v);
            }
            return converted_one(v);
        }
        if unordered(v, v) {
            return rounded_rare(v);
        }
        _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(carried(v)))
    }
}

/// Rounds two vectors to bf16 at once: the even elements of the result from `even`, the odd ones from `odd`.
///
/// # Safety
/// - The processor has AVX-512 F, BW, DQ, VL and VNNI, and BF16 if it `converts`.
#[inline(always)]
pub(super) unsafe fn rounded_pair(converts: bool, even: __m512, odd: __m512) -> __m512i {
    // SAFETY: the caller's clause; the table holds as many elements as a vector.
    unsafe {
        if converts {
            if subnormal(even) | subnormal(odd) != 0 {
                return rounded_rare_pair(even, odd);
            }
            // All of the even ones come out before all of the odd ones.
            let halves = converted_two(even, odd);
            return _mm512_permutexvar_epi16(_mm512_loadu_si512(ALTERNATELY.as_ptr().cast()), halves);
        }
        if unordered(even, odd) {
            return rounded_rare_pair(even, odd);
        }
        upper_words(carried(even), carried(odd))
    }
}

/// Rounds each lane to bf16 and widens it again.
///
/// # Safety
/// - The processor has AVX-512 F, BW, DQ, VL and VNNI, and BF16 if it `converts`.
#[inline(always)]
pub(super) unsafe fn rounded_lanes(converts: bool, v: __m512) -> __m512 {
    // SAFETY: the caller's clause.
    unsafe {
        if converts || unordered(v, v) {
            return widened(rounded_one(converts, v));
        }
        upper(carried(v))
    }
}

/// The same of two vectors, with one look at both.
///
/// # Safety
/// - The processor has AVX-512 F, BW, DQ, VL and VNNI, and BF16 if it `converts`.
#[inline(always)]
pub(super) unsafe fn rounded_lanes_pair(converts: bool, even: __m512, odd: __m512) -> [__m512; 2] {
    // SAFETY: the caller's clause.
    unsafe {
        if converts || unordered(even, odd) {
            return widened_pair(rounded_pair(converts, even, odd));
        }
        [upper(carried(even)), upper(carried(odd))]
    }
}

/// Elements of two halves in turns.
const ALTERNATELY: [i16; 2 * LANES] = {
    let mut order = [0; 2 * LANES];
    let mut i = 0;
    while i < 2 * LANES {
        order[i] = (i / 2 + i % 2 * LANES) as i16;
        i += 1;
    }
    order
};

/// [`rounded_one`] where there is a number that its short ways cannot do, below the normal range or NaN: apart, so that loops stay short.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f")]
fn rounded_rare(v: __m512) -> __m256i {
    // SAFETY: this function's own feature.
    let bits = unsafe { rounded(v) };
    _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(bits))
}

/// [`rounded_pair`] likewise.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
fn rounded_rare_pair(even: __m512, odd: __m512) -> __m512i {
    // SAFETY: this function's own features.
    let (even, odd) = unsafe { (rounded(even), rounded(odd)) };
    _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(even), odd)
}

/// Sixteen bf16, widened.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn widened(bits: __m256i) -> __m512 {
    // SAFETY: the caller's clause.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bits))) }
}

/// The even and the odd elements, widened.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
pub(super) unsafe fn widened_pair(bits: __m512i) -> [__m512; 2] {
    // SAFETY: the caller's clause.
    unsafe { [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits)), upper(bits)] }
}

/// The bf16 in the upper half of each lane, widened.
///
/// # Safety
/// - The processor has AVX-512 F.
#[inline(always)]
unsafe fn upper(bits: __m512i) -> __m512 {
    // SAFETY: the caller's clause.
    unsafe { _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(0xffff_0000_u32 as i32))) }
}
