// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! AVX2 with FMA and F16C: every x86 server of the last ten years.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::code::avx2 as code;
use super::{Code, CodeTable, Elem, MAX_LANES, Simd, SimdOp};

/// The proof that this processor has AVX2, FMA and F16C, and that the operating system saves their registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2 {
    follows_pages: bool,
}

impl Avx2 {
    /// The token, if this processor has the instructions.
    pub fn detect() -> Option<Avx2> {
        let all =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        all.then(|| Avx2 { follows_pages: super::isa::follows_pages() })
    }
}

const LANES: usize = 8;
/// Rounding of `vcvtps2ph`: nearest, ties to even, whatever the thread's rounding mode is.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

/// Rounds each 32-bit lane to bf16, left in the lane's upper half with anything below it. Wrong for NaN.
///
/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn carried(v: __m256) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        let bits = _mm256_castps_si256(v);
        // Bit 16 as a number: the upper half of the lane times one. A shift and a mask would do the same, but shifts have
        // fewer execution units, and these loops are full of them.
        let odd = _mm256_madd_epi16(_mm256_and_si256(bits, _mm256_set1_epi32(0x1_0000)), _mm256_set1_epi32(0x1_0000));
        _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd)
    }
}

/// Rounds each 32-bit lane to bf16, left in the lane's lower half; the upper half is zero.
///
/// # Safety
/// - The processor has AVX2.
#[inline(always)]
unsafe fn narrow_bf16(v: __m256) -> __m256i {
    // SAFETY: the caller's clause.
    unsafe {
        // Rounding could carry a NaN to infinity or zero; its upper half with the quiet bit stays one.
        let upper = _mm256_srli_epi32::<16>(_mm256_castps_si256(v));
        let nan = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
        let unordered = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(v, v));
        _mm256_blendv_epi8(_mm256_srli_epi32::<16>(carried(v)), nan, unordered)
    }
}

// SAFETY of every block below: `self` proves the instructions; what a block reads or writes through a pointer is its
// function's own clause.
impl Simd for Avx2 {
    const NAME: &'static str = "avx2";
    const LANES: usize = LANES;
    const FUSED: bool = true;
    const SPECIALISE: bool = true;
    const STREAMS: bool = true;
    type F32 = __m256;
    type Bits = __m256i;
    type CodeTable = ();

    #[inline]
    fn run<O: SimdOp>(self, op: O) -> O::Output {
        #[target_feature(enable = "avx2,fma,f16c")]
        #[inline(never)]
        fn enter<O: SimdOp>(s: Avx2, op: O) -> O::Output {
            op.eval(s)
        }
        // SAFETY: `self` proves the features of `enter`.
        unsafe { enter(self, op) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    fn add(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: __m256, b: __m256, c: __m256) -> __m256 {
        // SAFETY: `self` proves FMA.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    fn min(self, a: __m256, b: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_min_ps(a, b) }
    }

    #[inline(always)]
    fn neg(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_xor_ps(_mm256_set1_ps(-0.0), a) }
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m256, sign: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe {
            let bit = _mm256_set1_ps(-0.0);
            _mm256_or_ps(_mm256_andnot_ps(bit, a), _mm256_and_ps(bit, sign))
        }
    }

    #[inline(always)]
    fn all_below(self, a: __m256, bound: f32) -> bool {
        // SAFETY: `self` proves AVX.
        unsafe {
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(_mm256_andnot_ps(_mm256_set1_ps(-0.0), a), _mm256_set1_ps(bound));
            _mm256_movemask_ps(below) == 0xff
        }
    }

    #[inline(always)]
    fn abs(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
    }

    #[inline(always)]
    fn select_sign(self, sign: __m256, if_negative: __m256, otherwise: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_blendv_ps(otherwise, if_negative, sign) }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn scale(self, a: __m256, n: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let n = _mm256_cvtps_epi32(_mm256_floor_ps(n));
            let half = _mm256_srai_epi32::<1>(n);
            let rest = _mm256_sub_epi32(n, half);
            let one = _mm256_set1_epi32(127);
            let first = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_add_epi32(half, one)));
            let second = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_add_epi32(rest, one)));
            _mm256_mul_ps(_mm256_mul_ps(a, first), second)
        }
    }

    const STEP_BITS: u32 = 0;

    #[inline(always)]
    fn step_power(self, k: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            // The shifter's own bits fall off at the top.
            let exponent = _mm256_slli_epi32::<23>(_mm256_castps_si256(k));
            _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_castps_si256(_mm256_set1_ps(1.0))))
        }
    }

    #[inline(always)]
    fn step_fraction(self, _: __m256) -> __m256 {
        self.splat(1.0)
    }

    #[inline(always)]
    fn swap_pairs(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_permute_ps::<0b10_11_00_01>(a) }
    }

    #[inline(always)]
    fn round(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    fn sum(self, a: __m256) -> f32 {
        // SAFETY: `self` proves AVX.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    #[inline(always)]
    fn sum_four(self, [a, b, c, d]: [__m256; 4]) -> [f32; 4] {
        // SAFETY: `self` proves AVX; an array of four f32 is as large as the vector.
        unsafe {
            // Pairs of neighbours, then pairs of pairs: each half then holds a part of all four sums.
            let ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            let (ab, cd) = (_mm256_castps_pd(ab), _mm256_castps_pd(cd));
            let low = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd));
            let all = _mm256_add_ps(low, _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)));
            let four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
            std::mem::transmute::<__m128, [f32; 4]>(four)
        }
    }

    #[inline(always)]
    fn any_nan(self, a: __m256, b: __m256) -> bool {
        // SAFETY: `self` proves AVX.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(a, b)) != 0 }
    }

    #[inline(always)]
    fn first_equal(self, a: __m256, value: __m256) -> usize {
        // SAFETY: `self` proves AVX.
        let equal = unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, value)) };
        (equal as u8).trailing_zeros() as usize
    }

    #[inline(always)]
    fn round_f16(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves F16C.
        unsafe { _mm256_cvtph_ps(_mm256_cvtps_ph::<NEAREST>(a)) }
    }

    #[inline(always)]
    fn round_bf16(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(narrow_bf16(a))) }
    }

    #[inline(always)]
    unsafe fn load_f32(self, p: *const f32) -> __m256 {
        // SAFETY: `self` proves AVX; the caller's clause: LANES elements are readable.
        unsafe { _mm256_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn load_f16(self, p: *const f16) -> __m256 {
        // SAFETY: `self` proves F16C; the caller's clause: LANES elements of two bytes are readable.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, p: *const bf16) -> __m256 {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES elements of two bytes are readable.
        unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(p.cast())))) }
    }

    #[inline(always)]
    unsafe fn store_f32<const STREAM: bool>(self, p: *mut f32, v: __m256) {
        // SAFETY: `self` proves AVX; the caller's clause: LANES elements are writable, aligned if streamed.
        unsafe { if STREAM { _mm256_stream_ps(p, v) } else { _mm256_storeu_ps(p, v) } }
    }

    #[inline(always)]
    unsafe fn store_f16<const STREAM: bool>(self, p: *mut f16, v: __m256) {
        // SAFETY: `self` proves F16C; the caller's clause: LANES elements of two bytes are writable, aligned if streamed.
        unsafe {
            let bits = _mm256_cvtps_ph::<NEAREST>(v);
            if STREAM { _mm_stream_si128(p.cast(), bits) } else { _mm_storeu_si128(p.cast(), bits) }
        }
    }

    #[inline(always)]
    unsafe fn store_bf16<const STREAM: bool>(self, p: *mut bf16, v: __m256) {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES elements of two bytes are writable, aligned if streamed.
        unsafe {
            let lanes = narrow_bf16(v);
            let bits = _mm_packus_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
            if STREAM { _mm_stream_si128(p.cast(), bits) } else { _mm_storeu_si128(p.cast(), bits) }
        }
    }

    #[inline(always)]
    unsafe fn load_bf16_pair(self, p: *const bf16) -> [__m256; 2] {
        // SAFETY: `self` proves AVX2; the caller's clause: twice LANES elements of two bytes are readable.
        unsafe {
            let bits = _mm256_loadu_si256(p.cast());
            let even = _mm256_slli_epi32::<16>(bits);
            let odd = _mm256_and_si256(bits, _mm256_set1_epi32(0xffff_0000_u32 as i32));
            [_mm256_castsi256_ps(even), _mm256_castsi256_ps(odd)]
        }
    }

    #[inline(always)]
    unsafe fn store_bf16_pair<const STREAM: bool>(self, p: *mut bf16, [even, odd]: [__m256; 2]) {
        // SAFETY: `self` proves AVX2; the caller's clause: twice LANES elements of two bytes are writable, aligned to LANES
        // of them if streamed, which is why the halves are stored apart.
        unsafe {
            // NaN is so rare that one test of both vectors is cheaper than doing without a branch.
            let unordered = _mm256_cmp_ps::<_CMP_UNORD_Q>(even, odd);
            let (low, high) = if _mm256_movemask_ps(unordered) == 0 {
                (_mm256_srli_epi32::<16>(carried(even)), carried(odd))
            } else {
                (narrow_bf16(even), _mm256_slli_epi32::<16>(narrow_bf16(odd)))
            };
            let bits = _mm256_blend_epi16::<0b1010_1010>(low, high);
            if STREAM {
                _mm_stream_si128(p.cast(), _mm256_castsi256_si128(bits));
                _mm_stream_si128(p.cast::<__m128i>().add(1), _mm256_extracti128_si256::<1>(bits));
            } else {
                _mm256_storeu_si256(p.cast(), bits);
            }
        }
    }

    #[inline(always)]
    fn bf16_pair_order(self, [a, b]: [__m256; 2]) -> [__m256; 2] {
        // SAFETY: `self` proves AVX2.
        unsafe {
            // Within 128-bit halves first; the permutation of 64-bit parts puts the halves in order.
            let order = |v: __m256| _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(v)));
            [order(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)), order(_mm256_shuffle_ps::<0b11_01_11_01>(a, b))]
        }
    }

    #[inline(always)]
    unsafe fn load_code<C: Code>(self, p: *const C) -> __m256 {
        // SAFETY: `self` proves AVX2 and F16C; the caller's clause: LANES codes of one byte are readable.
        unsafe { code::widen(C::KIND, _mm_loadl_epi64(p.cast())) }
    }

    #[inline(always)]
    unsafe fn store_code<C: Code, const STREAM: bool>(self, p: *mut C, v: __m256) {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES codes of one byte are writable, aligned if streamed.
        unsafe {
            let codes = code::narrow(C::KIND, v);
            if STREAM {
                _mm_stream_si64(p.cast(), _mm_cvtsi128_si64(codes));
            } else {
                _mm_storel_epi64(p.cast(), codes);
            }
        }
    }

    #[inline(always)]
    unsafe fn store_bounded_code<C: Code, const STREAM: bool>(self, p: *mut C, v: __m256, sign: __m256) {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES codes of one byte are writable, aligned if streamed.
        unsafe {
            let codes = code::narrow_bounded(C::KIND, v, sign);
            if STREAM {
                _mm_stream_si64(p.cast(), _mm_cvtsi128_si64(codes));
            } else {
                _mm_storel_epi64(p.cast(), codes);
            }
        }
    }

    #[inline(always)]
    fn code_table<T: Elem, C: Code>(self, _: &CodeTable) {}

    #[inline(always)]
    fn round_code<C: Code>(self, a: __m256) -> __m256 {
        // SAFETY: `self` proves AVX2 and F16C.
        unsafe { code::widen(C::KIND, code::narrow(C::KIND, a)) }
    }

    #[inline(always)]
    unsafe fn load_magnitudes_32(self, p: *const u32) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES elements of four bytes are readable.
        unsafe { _mm256_and_si256(_mm256_loadu_si256(p.cast()), _mm256_set1_epi32(0x7fff_ffff)) }
    }

    #[inline(always)]
    unsafe fn load_magnitudes_16(self, p: *const u16) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller's clause: twice LANES elements of two bytes are readable.
        unsafe { _mm256_and_si256(_mm256_loadu_si256(p.cast()), _mm256_set1_epi16(0x7fff)) }
    }

    #[inline(always)]
    fn larger_32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_max_epi32(a, b) }
    }

    #[inline(always)]
    fn larger_16(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_max_epi16(a, b) }
    }

    #[inline(always)]
    fn any_above_32(self, a: __m256i, limit: __m256i) -> bool {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_movemask_epi8(_mm256_cmpgt_epi32(a, limit)) != 0 }
    }

    #[inline(always)]
    fn any_above_16(self, a: __m256i, limit: __m256i) -> bool {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_movemask_epi8(_mm256_cmpgt_epi16(a, limit)) != 0 }
    }

    #[inline(always)]
    fn words(self, a: __m256i) -> [u32; MAX_LANES] {
        let mut words = [0_u32; MAX_LANES];
        // SAFETY: `self` proves AVX2; the buffer holds LANES words and more.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), a) };
        words
    }

    #[inline(always)]
    unsafe fn load_words(self, p: *const u32) -> __m256i {
        // SAFETY: `self` proves AVX2; the caller's clause: LANES words are readable.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }

    #[inline(always)]
    fn splat_word(self, word: u32) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn low_nibbles(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(a, _mm256_set1_epi32(0x0f0f_0f0f)) }
    }

    #[inline(always)]
    fn high_nibbles(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(_mm256_srli_epi32::<4>(a), _mm256_set1_epi32(0x0f0f_0f0f)) }
    }

    #[inline(always)]
    fn byte(self, a: __m256i, at: usize) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let shifted = _mm256_srl_epi32(a, _mm_cvtsi32_si128(8 * at as i32));
            _mm256_cvtepi32_ps(_mm256_and_si256(shifted, _mm256_set1_epi32(0xff)))
        }
    }

    #[inline(always)]
    fn nibble(self, a: __m256i, at: usize) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let shifted = _mm256_srl_epi32(a, _mm_cvtsi32_si128(4 * at as i32));
            _mm256_cvtepi32_ps(_mm256_and_si256(shifted, _mm256_set1_epi32(15)))
        }
    }

    #[inline(always)]
    fn integers(self, a: __m256i) -> __m256 {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_cvtepi32_ps(a) }
    }

    #[inline(always)]
    fn dot_bytes<const WIDE: bool>(self, sum: __m256i, codes: __m256i, x: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let four = if WIDE {
                // A pair of products may leave 16 bits: even and odd bytes apart, widened.
                let even = _mm256_madd_epi16(
                    _mm256_and_si256(codes, _mm256_set1_epi16(0xff)),
                    _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(x)),
                );
                _mm256_add_epi32(even, _mm256_madd_epi16(_mm256_srli_epi16::<8>(codes), _mm256_srai_epi16::<8>(x)))
            } else {
                _mm256_madd_epi16(_mm256_maddubs_epi16(codes, x), _mm256_set1_epi16(1))
            };
            _mm256_add_epi32(sum, four)
        }
    }

    #[inline(always)]
    fn fence(self) {
        // SAFETY: SSE is part of x86-64.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn prefetch(self, p: *const u8) {
        // SAFETY: a prefetch of any address is harmless; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
    }

    #[inline(always)]
    fn follows_pages(self) -> bool {
        self.follows_pages
    }

    #[inline(always)]
    fn prefetch_near(self, p: *const u8) {
        // SAFETY: as for `prefetch`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(p.cast()) }
    }
}
