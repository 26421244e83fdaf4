// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Conversions of every instruction set against `half`, bit for bit, and the other vector operations against scalars.

use half::{bf16, f16};

use super::{Elem, Isa, Simd, SimdOp};

/// Every instruction set of this host, and AVX-512 as a processor without BF16 has it.
fn paths() -> Vec<Isa> {
    let mut paths = Isa::available();
    #[cfg(target_arch = "x86_64")]
    paths.extend(super::Avx512::without_conversion().map(Isa::Avx512));
    paths
}

/// Widens all of `input`, whose length need not be a multiple of the vector.
struct Widen<'a, T>(&'a [T]);

impl<T: Elem> SimdOp for Widen<'_, T> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Vec<f32> {
        Convert { input: self.0, map: |_, v| v, tail_only: false }.collect::<S, f32>(s)
    }
}

/// Loads T, maps, stores as U.
pub(super) struct Convert<'a, T, F> {
    pub(super) input: &'a [T],
    pub(super) map: F,
    pub(super) tail_only: bool,
}

impl<T: Elem, F> Convert<'_, T, F> {
    #[inline(always)]
    pub(super) fn collect<S: Simd, U: Elem>(self, s: S) -> Vec<U>
    where
        F: Fn(S, S::F32) -> S::F32,
    {
        let mut out = vec![U::default(); self.input.len()];
        let (mut i, n) = (0, self.input.len());
        while i < n {
            let count = if self.tail_only { (n - i).min(S::LANES - 1) } else { (n - i).min(S::LANES) };
            // SAFETY: `count` elements follow `i` in both vectors.
            unsafe {
                let (from, to) = (self.input.as_ptr().add(i), out.as_mut_ptr().add(i));
                if count == S::LANES {
                    U::store::<S, false>(s, to, (self.map)(s, T::load(s, from)));
                } else {
                    U::store_tail(s, to, count, (self.map)(s, T::load_tail(s, from, count)));
                }
            }
            i += count;
        }
        out
    }
}

struct Narrow<'a> {
    input: &'a [f32],
    tail_only: bool,
}

/// The three ways in which a kernel rounds: by storing, by storing a tail, by rounding in registers.
struct Narrowed<U> {
    stored: Vec<U>,
    rounded: Vec<f32>,
}

struct NarrowTo<'a, U>(Narrow<'a>, std::marker::PhantomData<U>);

impl<U: Elem> SimdOp for NarrowTo<'_, U> {
    type Output = Narrowed<U>;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Narrowed<U> {
        let Narrow { input, tail_only } = self.0;
        Narrowed {
            stored: Convert { input, map: |_: S, v| v, tail_only }.collect::<S, U>(s),
            rounded: Convert { input, map: |s: S, v| U::round(s, v), tail_only }.collect::<S, f32>(s),
        }
    }
}

/// Same bits, except that a signalling NaN may have become quiet.
fn same(actual: f32, expected: f32) -> bool {
    let quiet = |v: f32| if v.is_nan() { v.to_bits() | 0x0040_0000 } else { v.to_bits() };
    quiet(actual) == quiet(expected)
}

#[test]
fn every_16_bit_value_widens_as_half_does() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = all.iter().map(|&b| f16::from_bits(b)).collect();
    let brains: Vec<bf16> = all.iter().map(|&b| bf16::from_bits(b)).collect();
    for isa in Isa::available() {
        for (h, wide) in halves.iter().zip(isa.run(Widen(&halves))) {
            assert!(same(wide, h.to_f32_const()), "{} f16 {:#06x} gave {wide:?}", isa.name(), h.to_bits());
        }
        for (b, wide) in brains.iter().zip(isa.run(Widen(&brains))) {
            assert!(same(wide, b.to_f32_const()), "{} bf16 {:#06x} gave {wide:?}", isa.name(), b.to_bits());
        }
    }
}

/// Every upper half of an f32 with every kind of lower half: exact, just above, around both ties, just below the next;
/// and around every tie of f16, which sits at bit 12. Signs, subnormals, infinities and NaN payloads are all among them.
pub(super) fn f32_samples() -> Vec<f32> {
    let lower = [
        0_u32, 1, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x2fff, 0x3000, 0x3001, 0x7ffe, 0x7fff, 0x8000, 0x8001,
        0x9000, 0xb000, 0xcfff, 0xd000, 0xd001, 0xefff, 0xf000, 0xf001, 0xffff,
    ];
    (0..=u32::from(u16::MAX)).flat_map(|upper| lower.map(|lower| f32::from_bits(upper << 16 | lower))).collect()
}

#[test]
fn f32_rounds_as_half_does() {
    let samples = f32_samples();
    for isa in paths() {
        for tail_only in [false, true] {
            let narrow = || Narrow { input: &samples, tail_only };
            let halves = isa.run(NarrowTo::<f16>(narrow(), std::marker::PhantomData));
            let brains = isa.run(NarrowTo::<bf16>(narrow(), std::marker::PhantomData));
            for (i, &value) in samples.iter().enumerate() {
                let (h, b) = (f16::from_f32_const(value), bf16::from_f32_const(value));
                let context = || format!("{} {:#010x} tail {tail_only}", isa.name(), value.to_bits());
                assert_eq!(halves.stored[i].to_bits(), h.to_bits(), "f16 {}", context());
                assert_eq!(brains.stored[i].to_bits(), b.to_bits(), "bf16 {}", context());
                assert!(same(halves.rounded[i], h.to_f32_const()), "rounded f16 {}", context());
                assert!(same(brains.rounded[i], b.to_f32_const()), "rounded bf16 {}", context());
            }
        }
    }
}

/// Two vectors at a time: what [`Elem::store_pair`] makes of consecutive numbers brought into pair order, and whether
/// [`Elem::load_pair`] gives them back in that order.
struct Paired<'a, U>(&'a [f32], std::marker::PhantomData<U>);

impl<U: Elem> SimdOp for Paired<'_, U> {
    type Output = (Vec<U>, bool);

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> (Vec<U>, bool) {
        let step = 2 * S::LANES;
        let mut out = vec![U::default(); self.0.len() / step * step];
        let mut ordered = true;
        for i in (0..out.len()).step_by(step) {
            let (mut wide, mut again) = ([0.0_f32; 32], [0.0_f32; 32]);
            // SAFETY: two vectors follow `i` in both, and the buffers hold two of any instruction set.
            unsafe {
                let v = U::pair_order(s, f32::load_pair(s, self.0.as_ptr().add(i)));
                U::store_pair::<S, false>(s, out.as_mut_ptr().add(i), v);
                let back = U::load_pair(s, out.as_ptr().add(i));
                let rounded = U::round_pair(s, v);
                for k in 0..2 {
                    s.store_f32::<false>(wide.as_mut_ptr().add(k * S::LANES), rounded[k]);
                    s.store_f32::<false>(again.as_mut_ptr().add(k * S::LANES), back[k]);
                }
            }
            ordered &= wide.iter().zip(&again).all(|(&a, &b)| same(a, b));
        }
        (out, ordered)
    }
}

#[test]
fn pairs_round_and_order_as_single_vectors_do() {
    let samples = f32_samples();
    for isa in paths() {
        let (halves, ordered) = isa.run(Paired::<f16>(&samples, std::marker::PhantomData));
        assert!(ordered, "{} f16", isa.name());
        let (brains, ordered) = isa.run(Paired::<bf16>(&samples, std::marker::PhantomData));
        assert!(ordered, "{} bf16", isa.name());
        assert!(halves.len() == brains.len() && halves.len() + 32 > samples.len());
        for (i, &value) in samples[..halves.len()].iter().enumerate() {
            let context = || format!("{} {:#010x}", isa.name(), value.to_bits());
            assert_eq!(halves[i].to_bits(), f16::from_f32_const(value).to_bits(), "f16 {}", context());
            assert_eq!(brains[i].to_bits(), bf16::from_f32_const(value).to_bits(), "bf16 {}", context());
        }
    }
}

/// Numbers that take another way through the rounding of a vector than their neighbours do: one in each place, among
/// others of every kind.
#[test]
fn one_lane_of_its_own_kind_changes_no_other() {
    let kinds = [1_u32, 0x0000_8000, 0x007f_ffff, 0x8000_0001, 0x807f_8000, 0x7f80_0001, 0xffc1_2345, 0x7f7f_ffff, 0];
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    let mut samples = Vec::new();
    for kind in kinds {
        for lane in 0..32 {
            // Patterns of all exponents, and then numbers near one, where nothing else is rare.
            samples.extend((0..32).map(|k| f32::from_bits(if k == lane { kind } else { random() })));
            samples.extend((0..32).map(|k| f32::from_bits(if k == lane { kind } else { 0x3f80_0000 | random() >> 9 })));
        }
    }
    samples.extend((0..1 << 20).map(|_| f32::from_bits(random() ^ random() << 13)));
    for isa in paths() {
        let (pairs, _) = isa.run(Paired::<bf16>(&samples, std::marker::PhantomData));
        let single = isa.run(NarrowTo::<bf16>(Narrow { input: &samples, tail_only: false }, std::marker::PhantomData));
        for (i, &value) in samples.iter().enumerate() {
            let expected = bf16::from_f32_const(value);
            let context = || format!("{} {:#010x} in place {}", isa.name(), value.to_bits(), i % 32);
            assert_eq!(pairs[i].to_bits(), expected.to_bits(), "pair {}", context());
            assert_eq!(single.stored[i].to_bits(), expected.to_bits(), "stored {}", context());
            assert!(same(single.rounded[i], expected.to_f32_const()), "rounded {}", context());
        }
    }
}

struct SumAll([f32; 16]);

impl SimdOp for SumAll {
    type Output = (f32, f32);

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> (f32, f32) {
        // SAFETY: sixteen elements are there, and no vector is longer.
        let v = unsafe { s.load_f32(self.0.as_ptr()) };
        let mut lanes = self.0[..S::LANES].to_vec();
        while lanes.len() > 1 {
            let half = lanes.len() / 2;
            lanes = (0..half).map(|i| lanes[i] + lanes[i + half]).collect();
        }
        (s.sum(v), lanes[0])
    }
}

#[test]
fn the_sum_of_lanes_has_one_order() {
    let lanes = std::array::from_fn(|i| [1e8, 1.0, -1e8, 3.25e-3, 7e7, -0.5][i % 6] * (i as f32 + 1.0));
    for isa in Isa::available() {
        let (actual, expected) = isa.run(SumAll(lanes));
        assert_eq!(actual.to_bits(), expected.to_bits(), "{}", isa.name());
    }
}

#[test]
fn a_last_level_cache_has_a_believable_size() {
    let bytes = super::last_level_cache();
    assert!((256 << 10..=4 << 30).contains(&bytes), "{bytes}");
}

struct Words([[u32; 16]; 3]);

/// Half-bytes, bytes, dot products of codes of 4 bits and of 8, in the lanes that there are.
type Fields = ([Vec<f32>; 8], [Vec<f32>; 4], Vec<f32>, Vec<f32>);

impl SimdOp for Words {
    type Output = Fields;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Fields {
        let mut lanes = [[0.0_f32; 16]; 14];
        // SAFETY: sixteen words and as many numbers are there, and no vector is longer.
        unsafe {
            let [codes, x, sum] = [0, 1, 2].map(|i| self.0[i].as_ptr());
            let (codes, x, sum) = (s.load_words(codes), s.load_words(x), s.load_words(sum));
            for (at, lanes) in lanes.iter_mut().take(12).enumerate() {
                let field = if at < 8 { s.nibble(codes, at) } else { s.byte(codes, at - 8) };
                s.store_f32::<false>(lanes.as_mut_ptr(), field);
            }
            let narrow =
                s.dot_bytes::<false>(s.dot_bytes::<false>(sum, s.low_nibbles(codes), x), s.high_nibbles(codes), x);
            s.store_f32::<false>(lanes[12].as_mut_ptr(), s.integers(narrow));
            s.store_f32::<false>(lanes[13].as_mut_ptr(), s.integers(s.dot_bytes::<true>(sum, codes, x)));
        }
        let of = |at: usize| lanes[at][..S::LANES].to_vec();
        (std::array::from_fn(of), std::array::from_fn(|at| of(8 + at)), of(12), of(13))
    }
}

#[test]
fn words_are_codes_and_their_products_are_exact() {
    // The ends of every range, where sums of products of bytes leave 16 bits, and words without a pattern.
    let ends = [0xffff_ffff_u32, 0x8080_8080, 0x7f7f_7f7f, 0, 0xff00_ff00, 0x8180_7f01];
    let mut state = 7_u32;
    let mut word = |i: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if i < 36 { ends[i % 6] } else { state ^ state >> 15 }
    };
    for round in 0..64 {
        let codes = std::array::from_fn(|i| word(round * 16 + i));
        let x: [u32; 16] = std::array::from_fn(|i| if round < 3 { ends[(round * 16 + i) / 6 % 6] } else { word(99) });
        let sum: [u32; 16] = std::array::from_fn(|i| (i as u32).wrapping_sub(8).wrapping_mul(1000));
        for isa in Isa::available() {
            let (nibbles, bytes, narrow, wide) = isa.run(Words([codes, x, sum]));
            for lane in 0..wide.len() {
                let context = format!("{} {:#x} {:#x}", isa.name(), codes[lane], x[lane]);
                (0..8).for_each(|at| assert_eq!(nibbles[at][lane], (codes[lane] >> (4 * at) & 15) as f32, "{context}"));
                (0..4).for_each(|at| assert_eq!(bytes[at][lane], (codes[lane] >> (8 * at) & 255) as f32, "{context}"));
                let dot = |codes: u32| -> i32 {
                    let pairs = codes.to_le_bytes().into_iter().zip(x[lane].to_le_bytes());
                    pairs.map(|(code, x)| i32::from(code) * i32::from(x as i8)).sum()
                };
                let start = sum[lane] as i32;
                assert_eq!(wide[lane], (start + dot(codes[lane])) as f32, "wide {context}");
                let halves = dot(codes[lane] & 0x0f0f_0f0f) + dot(codes[lane] >> 4 & 0x0f0f_0f0f);
                assert_eq!(narrow[lane], (start + halves) as f32, "narrow {context}");
            }
        }
    }
}
