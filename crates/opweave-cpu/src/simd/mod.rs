// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Vectors of f32, written once for every instruction set.
//!
//! A kernel is a [`SimdOp`]: one generic body over `S: Simd`. [`Isa::run`] enters it through a function that carries the
//! instruction set's target features, so that everything inside is compiled for them. A value of a token type such as
//! [`Avx2`] can only be had from its `detect`, which makes it the proof that the hardware has those instructions.
//!
//! All bodies, and all operations below them, are `#[inline(always)]`: a call that stayed a call would be compiled without
//! the features of its caller, ten times slower. Closures cannot be marked so; vectors stay out of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_bf16;
mod code;
mod element;
mod isa;
pub mod math;
mod portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use code::{Code, CodeKind, CodeTable, prescale, whole_prescale};
pub use element::{Elem, MAX_LANES};
pub use isa::{Isa, last_level_cache};
pub(crate) use math::{times_sigmoid, times_sigmoid_16, times_silu, times_silu_16, times_silu_16_pair};
pub use portable::Portable;

/// A body that runs under an instruction set.
pub trait SimdOp {
    /// What it returns.
    type Output;

    /// The body. Implementations are `#[inline(always)]`.
    fn eval<S: Simd>(self, s: S) -> Self::Output;
}

/// An instruction set that the hardware has: the value is the proof.
///
/// Loads and stores need no alignment unless they say so, and touch exactly [`Simd::LANES`] elements.
pub trait Simd: Copy + Send + Sync + 'static {
    /// As it appears in the names of kernels.
    const NAME: &'static str;
    /// Elements of a vector.
    const LANES: usize;
    /// A vector of f32.
    type F32: Copy;
    /// As many bits as a vector of f32, seen as unsigned integers.
    type Bits: Copy;
    /// Whether [`Simd::fma`] rounds once.
    const FUSED: bool;
    /// Whether loops are worth compiling once for each kind of parameters, which costs build time and code.
    const SPECIALISE: bool;
    /// Whether anything can be written past the caches: loops that do are else not compiled.
    const STREAMS: bool;

    /// Runs `op` compiled for this instruction set, as a function of its own: there is one of it, however many bodies run it.
    fn run<O: SimdOp>(self, op: O) -> O::Output;

    /// All lanes `value`.
    fn splat(self, value: f32) -> Self::F32;
    /// `a + b`.
    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// `a - b`.
    fn sub(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// `a * b`.
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// `a / b`.
    fn div(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// `a * b + c`, rounded once where the hardware can, twice on the portable path.
    fn fma(self, a: Self::F32, b: Self::F32, c: Self::F32) -> Self::F32;
    /// `a * b` rounded, and what the rounding lost.
    #[inline(always)]
    fn two_product(self, a: Self::F32, b: Self::F32) -> [Self::F32; 2] {
        let product = self.mul(a, b);
        [product, self.fma(a, b, self.neg(product))]
    }
    /// The larger lanes; `b` where either is NaN.
    fn max(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// The smaller lanes; `b` where either is NaN.
    fn min(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// Magnitudes.
    fn abs(self, a: Self::F32) -> Self::F32;
    /// `-a`, zeros and NaN too.
    fn neg(self, a: Self::F32) -> Self::F32;
    /// The magnitude of `a` with the sign bit of `sign`.
    fn with_sign_of(self, a: Self::F32, sign: Self::F32) -> Self::F32;
    /// Whether `|a| < bound` in all lanes; not where one is NaN.
    fn all_below(self, a: Self::F32, bound: f32) -> bool;
    /// `if_negative` where the sign bit of `sign` is set, else `otherwise`.
    fn select_sign(self, sign: Self::F32, if_negative: Self::F32, otherwise: Self::F32) -> Self::F32;
    /// `2^n` for integral `n` in `-126..=127`; anything for NaN.
    fn power_of_two(self, n: Self::F32) -> Self::F32;
    /// `a * 2^floor(n)` for `n` in `-252..=254`: below the normal range as near as its spacing allows (two roundings where
    /// `a * 2^floor(n / 2)` is there already), infinity above. NaN for NaN in `a`; anything for NaN in `n` alone.
    fn scale(self, a: Self::F32, n: Self::F32) -> Self::F32;
    /// With a fraction of so many bits the hardware looks up powers of two.
    const STEP_BITS: u32;
    /// `2^n`, where `k` is `n` plus [`math::shifter`] of [`Simd::STEP_BITS`], if that is a normal number.
    fn step_power(self, k: Self::F32) -> Self::F32;
    /// `2^(n - floor(n))` of the same `n`; 1 without fraction bits.
    fn step_fraction(self, k: Self::F32) -> Self::F32;
    /// The nearest integer, ties to even.
    fn round(self, a: Self::F32) -> Self::F32;
    /// The sum of all lanes, always in the same order: halves are added until one lane is left.
    fn sum(self, a: Self::F32) -> f32;

    /// The sums of all lanes of four vectors, each always in the same order, which need not be that of [`Simd::sum`].
    #[inline(always)]
    fn sum_four(self, v: [Self::F32; 4]) -> [f32; 4] {
        [self.sum(v[0]), self.sum(v[1]), self.sum(v[2]), self.sum(v[3])]
    }

    /// Lanes 0 and 1 exchanged, 2 and 3, and so on.
    fn swap_pairs(self, a: Self::F32) -> Self::F32;
    /// Whether any lane of either is NaN.
    fn any_nan(self, a: Self::F32, b: Self::F32) -> bool;
    /// The first lane that equals `value`; [`Simd::LANES`] where none does, as for NaN.
    fn first_equal(self, a: Self::F32, value: Self::F32) -> usize;
    /// The largest lane; those that are NaN are passed over.
    #[inline(always)]
    fn largest(self, a: Self::F32) -> f32 {
        let mut lanes = [f32::NEG_INFINITY; MAX_LANES];
        // SAFETY: the buffer holds `LANES` elements.
        unsafe { self.store_f32::<false>(lanes.as_mut_ptr(), a) };
        lanes.into_iter().fold(f32::NEG_INFINITY, |most, lane| if lane > most { lane } else { most })
    }

    /// The first `n` lanes, zero in the others.
    #[inline(always)]
    fn first_lanes(self, a: Self::F32, n: usize) -> Self::F32 {
        let mut lanes = [0.0_f32; MAX_LANES];
        // SAFETY: the buffer holds `LANES` elements.
        unsafe { self.store_f32::<false>(lanes.as_mut_ptr(), a) };
        for lane in lanes.iter_mut().skip(n) {
            *lane = 0.0;
        }
        // SAFETY: as above.
        unsafe { self.load_f32(lanes.as_ptr()) }
    }

    /// Rounds each lane to f16 (nearest, ties to even; overflow to infinity; NaN stays NaN) and back.
    fn round_f16(self, a: Self::F32) -> Self::F32;
    /// Rounds each lane to bf16 (nearest, ties to even; overflow to infinity; NaN stays NaN) and back.
    fn round_bf16(self, a: Self::F32) -> Self::F32;

    /// Reads [`Simd::LANES`] elements.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` elements of f32.
    unsafe fn load_f32(self, p: *const f32) -> Self::F32;
    /// Reads and widens [`Simd::LANES`] elements. A signalling NaN may come out quiet.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` elements of f16.
    unsafe fn load_f16(self, p: *const half::f16) -> Self::F32;
    /// Reads and widens [`Simd::LANES`] elements. A signalling NaN may come out quiet.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` elements of bf16.
    unsafe fn load_bf16(self, p: *const half::bf16) -> Self::F32;

    /// Writes [`Simd::LANES`] elements; with `STREAM`, past the caches where the hardware can.
    ///
    /// # Safety
    /// - `p` is valid for writing `LANES` elements of f32, and, if `STREAM`, aligned to their size in bytes.
    /// - After the last streamed store, [`Simd::fence`] runs before anything else may look.
    unsafe fn store_f32<const STREAM: bool>(self, p: *mut f32, v: Self::F32);
    /// Rounds as [`Simd::round_f16`] and writes [`Simd::LANES`] elements.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with elements of f16.
    unsafe fn store_f16<const STREAM: bool>(self, p: *mut half::f16, v: Self::F32);
    /// Rounds as [`Simd::round_bf16`] and writes [`Simd::LANES`] elements.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with elements of bf16.
    unsafe fn store_bf16<const STREAM: bool>(self, p: *mut half::bf16, v: Self::F32);

    /// Reads and widens [`Simd::LANES`] codes.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` codes.
    unsafe fn load_code<C: Code>(self, p: *const C) -> Self::F32;
    /// Rounds to the nearest code (ties to even, saturating, NaN as `Code` says) and writes [`Simd::LANES`] of them.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with codes.
    unsafe fn store_code<C: Code, const STREAM: bool>(self, p: *mut C, v: Self::F32);
    /// As [`Simd::store_code`], for numbers that are known to lie between the codes' ends and not to be NaN, each given as
    /// its product with [`prescale`], and with the sign of `sign`: with fewer instructions. Of i8 they may be
    /// anything below 2^30, and what is beyond the codes becomes the last one there.
    ///
    /// # Safety
    /// - As for [`Simd::store_code`].
    unsafe fn store_bounded_code<C: Code, const STREAM: bool>(self, p: *mut C, v: Self::F32, sign: Self::F32);
    /// [`Simd::store_bounded_code`] of four vectors. Sixteen lanes make a line of codes, which some hardware writes at once.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with four times `LANES` codes, and aligned as one vector of them if `STREAM`.
    #[inline(always)]
    unsafe fn store_bounded_codes<C: Code, const STREAM: bool>(
        self,
        p: *mut C,
        v: [Self::F32; 4],
        sign: [Self::F32; 4],
    ) {
        for (k, (v, sign)) in v.into_iter().zip(sign).enumerate() {
            // SAFETY: the caller's clauses.
            unsafe { self.store_bounded_code::<C, STREAM>(p.add(k * Self::LANES), v, sign) }
        }
    }

    /// The codes of i8 of four vectors of numbers below 2^20: each rounded, moved by `zero_point`, and brought between `lowest` and the
    /// largest code. Zero point and lowest code are integers of i8.
    ///
    /// # Safety
    /// - As for [`Simd::store_bounded_codes`].
    #[inline(always)]
    unsafe fn store_moved_codes<const STREAM: bool>(self, p: *mut i8, v: [Self::F32; 4], zero_point: f32, lowest: f32) {
        // Adding this rounds to integers, and there are as many around it as are needed.
        let rounder = math::shifter(0);
        let (rounder, back, lowest) = (self.splat(rounder), self.splat(rounder - zero_point), self.splat(lowest));
        let mut codes = v;
        for code in &mut codes {
            *code = self.max(lowest, self.sub(self.add(*code, rounder), back));
        }
        // SAFETY: the caller's clauses.
        unsafe { self.store_bounded_codes::<i8, STREAM>(p, codes, codes) }
    }

    /// Whether [`Simd::store_codes_apart`] ever does anything.
    const APART: bool = false;
    /// Writes the codes of f8 of 64 numbers of f32, whose products with `factor`, the rounded reciprocal of the scale times
    /// [`whole_prescale`], are within the codes; or nothing where a product may be next to a tie, which is the answer `false`.
    ///
    /// # Safety
    /// - `from` is valid for reading and `to` for writing 64 elements; `to` is aligned to 16 if `STREAM`, and a
    ///   [`Simd::fence`] follows.
    #[inline(always)]
    unsafe fn store_codes_apart<C: Code, const STREAM: bool>(
        self,
        _factor: Self::F32,
        _from: *const f32,
        _to: *mut C,
    ) -> bool {
        false
    }

    /// A [`CodeTable`] at hand.
    type CodeTable: Copy;
    /// Whether [`Simd::store_codes_by_table`] ever does anything.
    const TABLES: bool = false;
    /// Brings a table, which was made for these types, where it is at hand.
    fn code_table<T: Elem, C: Code>(self, table: &CodeTable) -> Self::CodeTable;
    /// Writes the codes of 64 numbers of T, f16 or bf16, under the scale of `table`, which was made for these types; or nothing where it
    /// does not know them all, which is the answer `false`.
    ///
    /// # Safety
    /// - `from` is valid for reading and `to` for writing 64 elements; `to` is aligned to 16 if `STREAM`, and a
    ///   [`Simd::fence`] follows.
    #[inline(always)]
    unsafe fn store_codes_by_table<T: Elem, C: Code, const STREAM: bool>(
        self,
        _table: Self::CodeTable,
        _from: *const T,
        _to: *mut C,
    ) -> bool {
        false
    }

    /// Rounds each lane as [`Simd::store_code`] and back.
    fn round_code<C: Code>(self, a: Self::F32) -> Self::F32;

    /// Reads and widens twice [`Simd::LANES`] elements, in an order of lanes of its own choice: the *pair order*.
    ///
    /// Sixteen bits are cheap to widen in place, as the even and the odd halves of 32-bit lanes, and dear to spread out.
    /// Arithmetic by columns does not mind the order as long as all operands have it; see [`Simd::bf16_pair_order`].
    ///
    /// # Safety
    /// - `p` is valid for reading twice `LANES` elements of bf16.
    #[inline(always)]
    unsafe fn load_bf16_pair(self, p: *const half::bf16) -> [Self::F32; 2] {
        // SAFETY: the caller's clause.
        unsafe { [self.load_bf16(p), self.load_bf16(p.add(Self::LANES))] }
    }

    /// Rounds as [`Simd::round_bf16`] and writes two vectors that are in pair order.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with twice `LANES` elements of bf16.
    #[inline(always)]
    unsafe fn store_bf16_pair<const STREAM: bool>(self, p: *mut half::bf16, v: [Self::F32; 2]) {
        // SAFETY: the caller's clauses.
        unsafe {
            self.store_bf16::<STREAM>(p, v[0]);
            self.store_bf16::<STREAM>(p.add(Self::LANES), v[1]);
        }
    }

    /// [`Simd::round_bf16`] of two vectors.
    #[inline(always)]
    fn round_bf16_pair(self, v: [Self::F32; 2]) -> [Self::F32; 2] {
        [self.round_bf16(v[0]), self.round_bf16(v[1])]
    }

    /// Rounds as [`Simd::round_f16`] and writes two vectors of consecutive elements.
    ///
    /// # Safety
    /// - As for [`Simd::store_f32`], with twice `LANES` elements of f16.
    #[inline(always)]
    unsafe fn store_f16_pair<const STREAM: bool>(self, p: *mut half::f16, v: [Self::F32; 2]) {
        // SAFETY: the caller's clauses.
        unsafe {
            self.store_f16::<STREAM>(p, v[0]);
            self.store_f16::<STREAM>(p.add(Self::LANES), v[1]);
        }
    }

    /// Brings two vectors of consecutive elements into pair order.
    #[inline(always)]
    fn bf16_pair_order(self, v: [Self::F32; 2]) -> [Self::F32; 2] {
        v
    }

    /// Reads [`Simd::LANES`] f32 as the bits of their magnitudes: in their order, infinity above all numbers, NaN above it.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` elements of f32.
    unsafe fn load_magnitudes_32(self, p: *const u32) -> Self::Bits;
    /// The same for twice [`Simd::LANES`] f16 or bf16.
    ///
    /// # Safety
    /// - `p` is valid for reading twice `LANES` elements of 16 bits.
    unsafe fn load_magnitudes_16(self, p: *const u16) -> Self::Bits;
    /// The larger integers of 32 bits, lane by lane, of numbers below 2^31.
    fn larger_32(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// The larger integers of 16 bits, lane by lane, of numbers below 2^15.
    fn larger_16(self, a: Self::Bits, b: Self::Bits) -> Self::Bits;
    /// Whether any integer of 32 bits is above that of `limit`, of numbers below 2^31.
    fn any_above_32(self, a: Self::Bits, limit: Self::Bits) -> bool;
    /// Whether any integer of 16 bits is above that of `limit`, of numbers below 2^15.
    fn any_above_16(self, a: Self::Bits, limit: Self::Bits) -> bool;
    /// The lanes as integers of 32 bits; zeros past the last.
    fn words(self, a: Self::Bits) -> [u32; MAX_LANES];

    /// Reads [`Simd::LANES`] words.
    ///
    /// # Safety
    /// - `p` is valid for reading `LANES` words, aligned to bytes.
    unsafe fn load_words(self, p: *const u32) -> Self::Bits;
    /// The same word in all lanes.
    fn splat_word(self, word: u32) -> Self::Bits;
    /// Of each byte its lower half.
    fn low_nibbles(self, a: Self::Bits) -> Self::Bits;
    /// Of each byte its upper half, shifted down.
    fn high_nibbles(self, a: Self::Bits) -> Self::Bits;
    /// Byte `at` of each word, the lowest being 0, as a number.
    fn byte(self, a: Self::Bits, at: usize) -> Self::F32;
    /// Half-byte `at` of each word, the lowest being 0, as a number.
    fn nibble(self, a: Self::Bits, at: usize) -> Self::F32;
    /// The words as signed integers, rounded.
    fn integers(self, a: Self::Bits) -> Self::F32;
    /// `sum` plus, in each word, the products of its four bytes in `codes`, unsigned, and in `x`, signed: exact. Unless
    /// `WIDE`, no code is above 127.
    fn dot_bytes<const WIDE: bool>(self, sum: Self::Bits, codes: Self::Bits, x: Self::Bits) -> Self::Bits;

    /// Orders streamed stores before everything after it.
    fn fence(self);
    /// Asks for the cache line at `p`, which may be any address, as far as the second cache: rows in work may fill the first.
    fn prefetch(self, p: *const u8);
    /// The same as far as the first cache: for what is read very soon.
    fn prefetch_near(self, p: *const u8);
    /// Whether the processor goes on by itself in a page of 4 KiB as that is read, once its first lines were asked for. To ask for all of
    /// them then takes the buffers of what is read.
    #[inline(always)]
    fn follows_pages(self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
