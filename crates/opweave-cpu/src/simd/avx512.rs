// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! AVX-512: sixteen lanes, and masks where AVX2 blends.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::avx512_bf16::{rounded_lanes, rounded_lanes_pair, rounded_one, rounded_pair, widened, widened_pair};
use super::code::avx512 as code;
use super::{Code, CodeTable, Elem, MAX_LANES, Simd, SimdOp};

/// The proof that this processor has AVX-512 F, BW, DQ, VL and VNNI besides AVX2, FMA and F16C, and that the operating system
/// saves their registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx512 {
    /// Whether it has BF16 too, and so rounds to it in one instruction.
    converts: bool,
    follows_pages: bool,
}

impl Avx512 {
    /// The token, if this processor has the instructions.
    pub fn detect() -> Option<Avx512> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni")
            && super::Avx2::detect().is_some();
        all.then(|| Avx512 {
            converts: is_x86_feature_detected!("avx512bf16"),
            follows_pages: super::isa::follows_pages(),
        })
    }

    /// A token that rounds to bf16 as a processor without BF16 has to.
    #[cfg(test)]
    pub(super) fn without_conversion() -> Option<Avx512> {
        Avx512::detect().map(|token| Avx512 { converts: false, ..token })
    }
}

const LANES: usize = 16;
/// Rounding of `vcvtps2ph`: nearest, ties to even, whatever the thread's rounding mode is.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// `2^(j/16)`, rounded to nearest, as bits.
const FRACTIONS: [i32; LANES] = [
    0x3f80_0000,
    0x3f85_aac3,
    0x3f8b_95c2,
    0x3f91_c3d3,
    0x3f98_37f0,
    0x3f9e_f532,
    0x3fa5_fed7,
    0x3fad_583f,
    0x3fb5_04f3,
    0x3fbd_08a4,
    0x3fc5_672a,
    0x3fce_248c,
    0x3fd7_44fd,
    0x3fe0_ccdf,
    0x3fea_c0c7,
    0x3ff5_257d,
];

/// The same less the `j` that [`Simd::step_power`] adds with the exponent.
const POWERS: [i32; LANES] = {
    let mut powers = FRACTIONS;
    let mut j = 0;
    while j < LANES {
        powers[j] -= (j as i32) << 19;
        j += 1;
    }
    powers
};

/// The numbers of four bits.
const NIBBLES: [f32; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

/// Writes 64 bytes; with `STREAM`, past the caches, `p` being aligned to 32.
///
/// # Safety
/// - The processor has AVX-512 F; `p` is valid for writing 64 bytes, aligned to 32 if streamed.
#[inline(always)]
unsafe fn store_line<const STREAM: bool>(p: *mut u8, bits: __m512i) {
    // SAFETY: the caller's clauses.
    unsafe {
        if !STREAM {
            _mm512_storeu_si512(p.cast(), bits);
        } else if (p as usize).is_multiple_of(64) {
            // A whole line at once: nothing has to be combined on its way out.
            _mm512_stream_si512(p.cast(), bits);
        } else {
            _mm256_stream_si256(p.cast(), _mm512_castsi512_si256(bits));
            _mm256_stream_si256(p.cast::<__m256i>().add(1), _mm512_extracti64x4_epi64::<1>(bits));
        }
    }
}

// SAFETY of every block below: `self` proves the instructions; what a block reads or writes through a pointer is its
// function's own clause.
impl Simd for Avx512 {
    const NAME: &'static str = "avx512";
    const LANES: usize = LANES;
    const FUSED: bool = true;
    const SPECIALISE: bool = true;
    const STREAMS: bool = true;
    type F32 = __m512;
    type Bits = __m512i;
    type CodeTable = code::Table;
    const TABLES: bool = true;

    #[inline]
    fn run<O: SimdOp>(self, op: O) -> O::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c")]
        #[inline(never)]
        fn enter<O: SimdOp>(s: Avx512, op: O) -> O::Output {
            op.eval(s)
        }
        // SAFETY: `self` proves the features of `enter`.
        unsafe { enter(self, op) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn div(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    fn neg(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(i32::MIN))) }
    }

    #[inline(always)]
    fn with_sign_of(self, a: __m512, sign: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            let (a, sign) = (_mm512_castps_si512(a), _mm512_castps_si512(sign));
            // Bit by bit: the third operand chooses the second (0xca: if c then a else b, in the order c, a, b).
            let bit = _mm512_set1_epi32(i32::MIN);
            _mm512_castsi512_ps(_mm512_ternarylogic_epi32::<0xca>(bit, sign, a))
        }
    }

    #[inline(always)]
    fn all_below(self, a: __m512, bound: f32) -> bool {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(_mm512_abs_ps(a), _mm512_set1_ps(bound)) == u16::MAX }
    }

    #[inline(always)]
    fn abs(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_abs_ps(a) }
    }

    #[inline(always)]
    fn select_sign(self, sign: __m512, if_negative: __m512, otherwise: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            let negative = _mm512_cmplt_epi32_mask(_mm512_castps_si512(sign), _mm512_setzero_si512());
            _mm512_mask_blend_ps(negative, otherwise, if_negative)
        }
    }

    #[inline(always)]
    fn power_of_two(self, n: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            let biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
        }
    }

    #[inline(always)]
    fn scale(self, a: __m512, n: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_scalef_ps(a, n) }
    }

    const STEP_BITS: u32 = 4;

    #[inline(always)]
    fn step_power(self, k: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the table holds LANES elements.
        unsafe {
            // The lookup takes the last four bits; the shift brings the fifth to the exponent's place.
            let k = _mm512_castps_si512(k);
            let power = _mm512_permutexvar_epi32(k, _mm512_loadu_si512(POWERS.as_ptr().cast()));
            _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_slli_epi32::<19>(k)))
        }
    }

    #[inline(always)]
    fn step_fraction(self, k: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the table holds LANES elements.
        unsafe {
            let table = _mm512_loadu_si512(FRACTIONS.as_ptr().cast());
            _mm512_castsi512_ps(_mm512_permutexvar_epi32(_mm512_castps_si512(k), table))
        }
    }

    #[inline(always)]
    fn swap_pairs(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_permute_ps::<0b10_11_00_01>(a) }
    }

    #[inline(always)]
    fn round(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a) }
    }

    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        // SAFETY: `self` proves AVX-512 F and what it includes.
        unsafe {
            let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
            let eight = _mm256_add_ps(_mm512_castps512_ps256(a), upper);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }

    #[inline(always)]
    fn sum_four(self, [a, b, c, d]: [__m512; 4]) -> [f32; 4] {
        // SAFETY: `self` proves AVX-512 F and what it includes; an array of four f32 is as large as the vector.
        unsafe {
            // Pairs of neighbours, then pairs of pairs: each quarter then holds a part of all four sums.
            let ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
            let low = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
            let all = _mm512_add_ps(low, _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)));
            let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(all)));
            let eight = _mm256_add_ps(_mm512_castps512_ps256(all), upper);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            std::mem::transmute::<__m128, [f32; 4]>(four)
        }
    }

    #[inline(always)]
    fn first_lanes(self, a: __m512, n: usize) -> __m512 {
        let mask = if n >= LANES { u16::MAX } else { (1_u16 << n) - 1 };
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_maskz_mov_ps(mask, a) }
    }

    #[inline(always)]
    fn any_nan(self, a: __m512, b: __m512) -> bool {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b) != 0 }
    }

    #[inline(always)]
    fn first_equal(self, a: __m512, value: __m512) -> usize {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, value) }.trailing_zeros() as usize
    }

    #[inline(always)]
    fn round_f16(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cvtph_ps(_mm512_cvtps_ph::<NEAREST>(a)) }
    }

    #[inline(always)]
    fn round_bf16(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves the features.
        unsafe { rounded_lanes(self.converts, a) }
    }

    #[inline(always)]
    unsafe fn load_f32(self, p: *const f32) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements are readable.
        unsafe { _mm512_loadu_ps(p) }
    }

    #[inline(always)]
    unsafe fn load_f16(self, p: *const f16) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements of two bytes are readable.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn load_bf16(self, p: *const bf16) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements of two bytes are readable.
        unsafe { widened(_mm256_loadu_si256(p.cast())) }
    }

    #[inline(always)]
    unsafe fn store_f32<const STREAM: bool>(self, p: *mut f32, v: __m512) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements are writable, aligned if streamed.
        unsafe { if STREAM { _mm512_stream_ps(p, v) } else { _mm512_storeu_ps(p, v) } }
    }

    #[inline(always)]
    unsafe fn store_f16<const STREAM: bool>(self, p: *mut f16, v: __m512) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements of two bytes are writable, aligned if
        // streamed.
        unsafe {
            let bits = _mm512_cvtps_ph::<NEAREST>(v);
            if STREAM { _mm256_stream_si256(p.cast(), bits) } else { _mm256_storeu_si256(p.cast(), bits) }
        }
    }

    #[inline(always)]
    unsafe fn store_bf16<const STREAM: bool>(self, p: *mut bf16, v: __m512) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements of two bytes are writable, aligned if
        // streamed.
        unsafe {
            let bits = rounded_one(self.converts, v);
            if STREAM { _mm256_stream_si256(p.cast(), bits) } else { _mm256_storeu_si256(p.cast(), bits) }
        }
    }

    #[inline(always)]
    unsafe fn load_bf16_pair(self, p: *const bf16) -> [__m512; 2] {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: twice LANES elements of two bytes are readable.
        unsafe { widened_pair(_mm512_loadu_si512(p.cast())) }
    }

    #[inline(always)]
    unsafe fn store_bf16_pair<const STREAM: bool>(self, p: *mut bf16, v: [__m512; 2]) {
        // SAFETY: `self` proves the features; the caller's clause: twice LANES elements of two bytes are writable, aligned
        // to LANES of them if streamed.
        unsafe { store_line::<STREAM>(p.cast(), rounded_pair(self.converts, v[0], v[1])) }
    }

    #[inline(always)]
    fn round_bf16_pair(self, v: [__m512; 2]) -> [__m512; 2] {
        // SAFETY: `self` proves the features.
        unsafe { rounded_lanes_pair(self.converts, v[0], v[1]) }
    }

    #[inline(always)]
    unsafe fn store_f16_pair<const STREAM: bool>(self, p: *mut f16, [a, b]: [__m512; 2]) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: twice LANES elements of two bytes are writable, aligned to
        // LANES of them if streamed.
        unsafe {
            let low = _mm512_castsi256_si512(_mm512_cvtps_ph::<NEAREST>(a));
            let bits = _mm512_inserti64x4::<1>(low, _mm512_cvtps_ph::<NEAREST>(b));
            store_line::<STREAM>(p.cast(), bits);
        }
    }

    #[inline(always)]
    fn bf16_pair_order(self, [a, b]: [__m512; 2]) -> [__m512; 2] {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            // Lanes 0 to 15 are those of `a`, 16 to 31 those of `b`.
            let even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
            let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
            [_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)]
        }
    }

    #[inline(always)]
    unsafe fn load_code<C: Code>(self, p: *const C) -> __m512 {
        // SAFETY: `self` proves AVX-512 F, BW and VL; the caller's clause: LANES codes of one byte are readable.
        unsafe { code::widen(C::KIND, _mm_loadu_si128(p.cast())) }
    }

    #[inline(always)]
    unsafe fn store_code<C: Code, const STREAM: bool>(self, p: *mut C, v: __m512) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES codes of one byte are writable, aligned if streamed.
        unsafe {
            let codes = code::narrow(C::KIND, v);
            if STREAM { _mm_stream_si128(p.cast(), codes) } else { _mm_storeu_si128(p.cast(), codes) }
        }
    }

    #[inline(always)]
    unsafe fn store_bounded_code<C: Code, const STREAM: bool>(self, p: *mut C, v: __m512, sign: __m512) {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES codes of one byte are writable, aligned if streamed.
        unsafe {
            let codes = code::narrow_bounded(C::KIND, v, sign);
            if STREAM { _mm_stream_si128(p.cast(), codes) } else { _mm_storeu_si128(p.cast(), codes) }
        }
    }

    #[inline(always)]
    unsafe fn store_bounded_codes<C: Code, const STREAM: bool>(self, p: *mut C, v: [__m512; 4], sign: [__m512; 4]) {
        // SAFETY: `self` proves the features; the caller's clause: 64 codes of one byte are writable, aligned to 16 if
        // streamed.
        unsafe { code::store_line::<STREAM>(p.cast(), code::narrow_bounded_line(C::KIND, v, sign)) }
    }

    #[inline(always)]
    unsafe fn store_moved_codes<const STREAM: bool>(self, p: *mut i8, v: [__m512; 4], zero_point: f32, lowest: f32) {
        // SAFETY: `self` proves the features; the caller's clause: 64 codes of one byte are writable, aligned to 16 if
        // streamed.
        unsafe { code::store_line::<STREAM>(p.cast(), code::moved_line(v, zero_point as i16, lowest as i8)) }
    }

    const APART: bool = true;

    #[inline(always)]
    unsafe fn store_codes_apart<C: Code, const STREAM: bool>(
        self,
        factor: __m512,
        from: *const f32,
        to: *mut C,
    ) -> bool {
        // SAFETY: `self` proves the features; the caller's clauses: 64 elements are readable, and as many codes writable, aligned to
        // 16 if streamed.
        unsafe {
            let products = [
                _mm512_mul_ps(_mm512_loadu_ps(from), factor),
                _mm512_mul_ps(_mm512_loadu_ps(from.add(LANES)), factor),
                _mm512_mul_ps(_mm512_loadu_ps(from.add(2 * LANES)), factor),
                _mm512_mul_ps(_mm512_loadu_ps(from.add(3 * LANES)), factor),
            ];
            let Some(codes) = code::narrow_apart_line(C::KIND, products) else { return false };
            code::store_line::<STREAM>(to.cast(), codes);
        }
        true
    }

    #[inline(always)]
    fn code_table<T: Elem, C: Code>(self, table: &CodeTable) -> code::Table {
        // SAFETY: `self` proves the features.
        unsafe { code::Table::new(T::DTYPE, C::KIND, table) }
    }

    #[inline(always)]
    unsafe fn store_codes_by_table<T: Elem, C: Code, const STREAM: bool>(
        self,
        table: code::Table,
        from: *const T,
        to: *mut C,
    ) -> bool {
        // SAFETY: `self` proves the features; the caller's clauses: 64 elements of two bytes are readable, and as many codes
        // writable, aligned to 16 if streamed.
        unsafe {
            let numbers = [_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.cast::<u8>().add(64).cast())];
            if !table.knows(numbers) {
                return false;
            }
            code::store_line::<STREAM>(to.cast(), table.codes(T::DTYPE, C::KIND, numbers));
        }
        true
    }

    #[inline(always)]
    fn round_code<C: Code>(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512 F, BW and VL.
        unsafe { code::widen(C::KIND, code::narrow(C::KIND, a)) }
    }

    #[inline(always)]
    unsafe fn load_magnitudes_32(self, p: *const u32) -> __m512i {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES elements of four bytes are readable.
        unsafe { _mm512_and_si512(_mm512_loadu_si512(p.cast()), _mm512_set1_epi32(0x7fff_ffff)) }
    }

    #[inline(always)]
    unsafe fn load_magnitudes_16(self, p: *const u16) -> __m512i {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: twice LANES elements of two bytes are readable.
        unsafe { _mm512_and_si512(_mm512_loadu_si512(p.cast()), _mm512_set1_epi16(0x7fff)) }
    }

    #[inline(always)]
    fn larger_32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_max_epi32(a, b) }
    }

    #[inline(always)]
    fn larger_16(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512 BW.
        unsafe { _mm512_max_epi16(a, b) }
    }

    #[inline(always)]
    fn any_above_32(self, a: __m512i, limit: __m512i) -> bool {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cmpgt_epi32_mask(a, limit) != 0 }
    }

    #[inline(always)]
    fn any_above_16(self, a: __m512i, limit: __m512i) -> bool {
        // SAFETY: `self` proves AVX-512 BW.
        unsafe { _mm512_cmpgt_epi16_mask(a, limit) != 0 }
    }

    #[inline(always)]
    fn words(self, a: __m512i) -> [u32; MAX_LANES] {
        let mut words = [0_u32; MAX_LANES];
        // SAFETY: `self` proves AVX-512 F; the buffer holds LANES words.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), a) };
        words
    }

    #[inline(always)]
    unsafe fn load_words(self, p: *const u32) -> __m512i {
        // SAFETY: `self` proves AVX-512 F; the caller's clause: LANES words are readable.
        unsafe { _mm512_loadu_si512(p.cast()) }
    }

    #[inline(always)]
    fn splat_word(self, word: u32) -> __m512i {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn low_nibbles(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_and_si512(a, _mm512_set1_epi32(0x0f0f_0f0f)) }
    }

    #[inline(always)]
    fn high_nibbles(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_and_si512(_mm512_srli_epi32::<4>(a), _mm512_set1_epi32(0x0f0f_0f0f)) }
    }

    #[inline(always)]
    fn byte(self, a: __m512i, at: usize) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe {
            let shifted = _mm512_srl_epi32(a, _mm_cvtsi32_si128(8 * at as i32));
            _mm512_cvtepi32_ps(_mm512_and_si512(shifted, _mm512_set1_epi32(0xff)))
        }
    }

    #[inline(always)]
    fn nibble(self, a: __m512i, at: usize) -> __m512 {
        // SAFETY: `self` proves AVX-512 F; the table holds LANES elements.
        unsafe {
            // The lookup takes the last four bits.
            let shifted = _mm512_srl_epi32(a, _mm_cvtsi32_si128(4 * at as i32));
            _mm512_permutexvar_ps(shifted, _mm512_loadu_ps(NIBBLES.as_ptr()))
        }
    }

    #[inline(always)]
    fn integers(self, a: __m512i) -> __m512 {
        // SAFETY: `self` proves AVX-512 F.
        unsafe { _mm512_cvtepi32_ps(a) }
    }

    #[inline(always)]
    fn dot_bytes<const WIDE: bool>(self, sum: __m512i, codes: __m512i, x: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512 VNNI.
        unsafe { _mm512_dpbusd_epi32(sum, codes, x) }
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
