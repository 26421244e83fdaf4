// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Conversions of every instruction set against a search among the values of all codes.

use std::marker::PhantomData;

use half::{bf16, f16};
use opweave_tensor::{F8E4M3, F8E5M2};

use crate::simd::tests::{Convert, f32_samples};
use crate::simd::{Code, Elem, Isa, Simd, SimdOp};

/// A code as the definition of its format has it, without any code of this crate.
trait Defined: Code + Elem {
    const NAME: &'static str;
    fn pattern(self) -> u8;
    fn of_pattern(bits: u8) -> Self;
    /// The number, infinity or NaN.
    fn number(bits: u8) -> f64;
    /// What NaN becomes.
    const NAN: u8;
}

/// Sign, exponent and mantissa fields, with no regard to what the largest exponent means.
fn fields(bits: u8, mantissa_bits: u32, bias: i32) -> f64 {
    let (sign, magnitude) = (if bits & 0x80 == 0 { 1.0 } else { -1.0 }, bits & 0x7f);
    let exponent = i32::from(magnitude >> mantissa_bits);
    let mantissa = f64::from(magnitude % (1 << mantissa_bits)) / f64::from(1 << mantissa_bits);
    if exponent == 0 {
        sign * mantissa * 2_f64.powi(1 - bias)
    } else {
        sign * (1.0 + mantissa) * 2_f64.powi(exponent - bias)
    }
}

impl Defined for F8E4M3 {
    const NAME: &'static str = "f8e4m3";
    const NAN: u8 = 0x7f;
    fn pattern(self) -> u8 {
        self.to_bits()
    }
    fn of_pattern(bits: u8) -> Self {
        F8E4M3::from_bits(bits)
    }
    fn number(bits: u8) -> f64 {
        if bits & 0x7f == 0x7f { f64::NAN } else { fields(bits, 3, 7) }
    }
}

impl Defined for F8E5M2 {
    const NAME: &'static str = "f8e5m2";
    const NAN: u8 = 0x7e;
    fn pattern(self) -> u8 {
        self.to_bits()
    }
    fn of_pattern(bits: u8) -> Self {
        F8E5M2::from_bits(bits)
    }
    fn number(bits: u8) -> f64 {
        match bits & 0x7f {
            0x7c => f64::INFINITY * fields(bits, 2, 15).signum(),
            0x7d.. => f64::NAN,
            _ => fields(bits, 2, 15),
        }
    }
}

impl Defined for i8 {
    const NAME: &'static str = "i8";
    const NAN: u8 = 0;
    fn pattern(self) -> u8 {
        self as u8
    }
    fn of_pattern(bits: u8) -> Self {
        bits as i8
    }
    fn number(bits: u8) -> f64 {
        f64::from(bits as i8)
    }
}

/// All finite codes in the order of their numbers, -0 left out.
struct Table(Vec<(f64, u8)>);

impl Table {
    fn of<C: Defined>() -> Table {
        let finite = (0..=u8::MAX).filter(|&bits| C::number(bits).is_finite());
        let mut codes: Vec<(f64, u8)> = finite.map(|bits| (C::number(bits), bits)).collect();
        codes.retain(|&(number, bits)| number != 0.0 || bits == 0);
        codes.sort_by(|a, b| a.0.total_cmp(&b.0));
        Table(codes)
    }

    /// The code of the number nearest to `value`; of two equally near ones the even one.
    fn nearest<C: Defined>(&self, value: f64) -> u8 {
        if value.is_nan() {
            return C::NAN;
        }
        // Beyond the ends all distances are alike in f64.
        let (least, most) = (self.0[0].0, self.0[self.0.len() - 1].0);
        let (sign, value) = (value.is_sign_negative(), value.clamp(least, most));
        let above = self.0.partition_point(|&(number, _)| number < value).min(self.0.len() - 1);
        let (low, high) = (self.0[above.saturating_sub(1)], self.0[above]);
        let bits = match (value - low.0).abs().total_cmp(&(high.0 - value).abs()) {
            std::cmp::Ordering::Less => low.1,
            std::cmp::Ordering::Greater => high.1,
            std::cmp::Ordering::Equal if low.1 % 2 == 0 => low.1,
            std::cmp::Ordering::Equal => high.1,
        };
        if bits == 0 && C::number(0x80) == 0.0 && sign { 0x80 } else { bits }
    }
}

struct Encode<'a, T, C>(&'a [T], bool, PhantomData<C>);

impl<T: Elem, C: Elem> SimdOp for Encode<'_, T, C> {
    type Output = (Vec<C>, Vec<f32>);

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> (Vec<C>, Vec<f32>) {
        let Encode(input, tail_only, _) = self;
        let stored = Convert { input, map: |_: S, v| v, tail_only }.collect::<S, C>(s);
        (stored, Convert { input, map: |s: S, v| C::round(s, v), tail_only }.collect::<S, f32>(s))
    }
}

fn check<T: Elem, C: Defined>(input: &[T], tail_only: bool) {
    let table = Table::of::<C>();
    for isa in Isa::available() {
        let (codes, rounded) = isa.run(Encode::<T, C>(input, tail_only, PhantomData));
        for ((value, code), rounded) in input.iter().zip(codes).zip(rounded) {
            let value = value.to_f64();
            let (actual, expected) = (code.pattern(), table.nearest::<C>(value));
            let context = || format!("{} {} to {} tail {tail_only}", isa.name(), value, C::NAME);
            assert_eq!(actual, expected, "{}: {actual:#04x}, not {expected:#04x}", context());
            let number = C::number(expected);
            let same = f64::from(rounded).to_bits() == number.to_bits() || (rounded.is_nan() && number.is_nan());
            assert!(same, "{}: rounded to {rounded}, not {number}", context());
        }
    }
}

fn every_16_bit_value<C: Defined>() {
    let all = 0..=u16::MAX;
    check::<f16, C>(&all.clone().map(f16::from_bits).collect::<Vec<_>>(), false);
    check::<bf16, C>(&all.clone().map(bf16::from_bits).collect::<Vec<_>>(), false);
    check::<bf16, C>(&all.map(bf16::from_bits).collect::<Vec<_>>(), true);
}

#[test]
fn every_16_bit_value_rounds_to_the_nearest_code() {
    every_16_bit_value::<F8E4M3>();
    every_16_bit_value::<F8E5M2>();
    every_16_bit_value::<i8>();
}

/// Every code, every middle between two codes, the ends, and the f32 next to each of them, of both signs.
fn edges<C: Defined>() -> Vec<f32> {
    let codes = Table::of::<C>().0;
    let numbers = codes.iter().map(|c| c.0);
    let middles = codes.windows(2).map(|w| (w[0].0 + w[1].0) / 2.0);
    // Where a code for the next number would be, and the middle before it.
    let largest = codes[codes.len() - 1].0;
    let step = largest - codes[codes.len() - 2].0;
    let beyond = [largest + step / 2.0, largest + step, 1e5, 1e38, f64::from(f32::MAX), f64::INFINITY];
    let tiny = [1e-45, 1e-40, f64::from(f32::MIN_POSITIVE), 0.0];
    let values = numbers.chain(middles).chain(beyond).chain(tiny).map(|v| v as f32);
    let near = values.flat_map(|v| [v, v.next_up(), v.next_down()]);
    near.flat_map(|v| [v, -v]).chain([f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)]).collect()
}

#[test]
fn f32_rounds_to_the_nearest_code() {
    let samples = f32_samples();
    check::<f32, F8E4M3>(&samples, false);
    check::<f32, F8E5M2>(&samples, false);
    check::<f32, i8>(&samples, false);
    for tail_only in [false, true] {
        check::<f32, F8E4M3>(&edges::<F8E4M3>(), tail_only);
        check::<f32, F8E5M2>(&edges::<F8E5M2>(), tail_only);
        check::<f32, i8>(&edges::<i8>(), tail_only);
    }
}

struct Decode<'a, C>(&'a [C], bool);

impl<C: Elem> SimdOp for Decode<'_, C> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Vec<f32> {
        Convert { input: self.0, map: |_: S, v| v, tail_only: self.1 }.collect::<S, f32>(s)
    }
}

fn every_code_back<C: Defined>() {
    let codes: Vec<C> = (0..=u8::MAX).map(C::of_pattern).collect();
    for isa in Isa::available() {
        for tail_only in [false, true] {
            let numbers = isa.run(Decode(&codes, tail_only));
            assert_eq!(numbers.len(), 256);
            for (bits, number) in (0..=u8::MAX).zip(numbers) {
                let expected = C::number(bits);
                let same = f64::from(number).to_bits() == expected.to_bits() || (number.is_nan() && expected.is_nan());
                assert!(same, "{} {} {bits:#04x}: {number}, not {expected}", isa.name(), C::NAME);
            }
        }
    }
}

#[test]
fn every_code_widens_to_its_number() {
    every_code_back::<F8E4M3>();
    every_code_back::<F8E5M2>();
    every_code_back::<i8>();
}

/// From f64 in one rounding: next to a middle, a first rounding to f32 would land on it.
fn from_f64_in_one_step<C: Defined>() {
    let table = Table::of::<C>();
    for edge in edges::<C>() {
        let edge = f64::from(edge);
        for value in [edge, edge.next_up(), edge.next_down()] {
            assert_eq!(C::from_f64(value).pattern(), table.nearest::<C>(value), "{} {value:e}", C::NAME);
        }
    }
}

#[test]
fn f64_rounds_once() {
    from_f64_in_one_step::<F8E4M3>();
    from_f64_in_one_step::<F8E5M2>();
    from_f64_in_one_step::<i8>();
}

/// Codes past the caches, eight or sixteen at a time, and nothing beside them.
struct Streamed<C>(PhantomData<C>);

#[repr(align(64))]
struct Lines([u8; 128]);

impl<C: Defined> SimdOp for Streamed<C> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let mut out = Lines([0xa5; 128]);
        let values: [f32; 16] = std::array::from_fn(|i| i as f32 * 3.0 - 20.0);
        // SAFETY: sixteen values and, from `LANES` on, as many codes are there; every multiple of `LANES` is aligned to it.
        unsafe {
            s.store_code::<C, true>(out.0.as_mut_ptr().add(S::LANES).cast(), s.load_f32(values.as_ptr()));
        }
        s.fence();
        let table = Table::of::<C>();
        for (i, &bits) in out.0.iter().enumerate() {
            let lane = i.wrapping_sub(S::LANES);
            let expected = if lane < S::LANES { table.nearest::<C>(f64::from(values[lane])) } else { 0xa5 };
            assert_eq!(bits, expected, "{} {} byte {i}", S::NAME, C::NAME);
        }
    }
}

#[test]
fn streamed_codes_touch_their_own_bytes() {
    for isa in Isa::available() {
        isa.run(Streamed::<F8E4M3>(PhantomData));
        isa.run(Streamed::<F8E5M2>(PhantomData));
        isa.run(Streamed::<i8>(PhantomData));
    }
}

/// Numbers within the range, with the prescale and their signs apart.
struct Bounded<'a, C>(&'a [f32], PhantomData<C>);

impl<C: Defined> SimdOp for Bounded<'_, C> {
    type Output = Vec<C>;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> Vec<C> {
        let mut out = vec![C::default(); self.0.len() / 16 * 16];
        for i in (0..out.len()).step_by(S::LANES) {
            // SAFETY: a vector follows `i` in both, since no vector has more than sixteen lanes.
            unsafe {
                let v = s.load_f32(self.0.as_ptr().add(i));
                let scaled = s.mul(v, s.splat(crate::simd::prescale(C::KIND)));
                s.store_bounded_code::<C, false>(out.as_mut_ptr().add(i), scaled, v);
            }
        }
        out
    }
}

fn bounded<C: Defined>() {
    let table = Table::of::<C>();
    let largest = table.0[table.0.len() - 1].0;
    let mut values: Vec<f32> = [f32_samples(), edges::<C>()].concat();
    // Below this, the prescale takes bits of its own; quotients so small have no bits that matter.
    values.retain(|v| f64::from(v.abs()) <= largest && (*v == 0.0 || v.abs() > 1e-30));
    for isa in Isa::available() {
        for (&value, code) in values.iter().zip(isa.run(Bounded::<C>(&values, PhantomData))) {
            let expected = table.nearest::<C>(f64::from(value));
            assert_eq!(code.pattern(), expected, "{} {} {value:e}", isa.name(), C::NAME);
        }
    }
}

#[test]
fn bounded_numbers_round_as_others_do() {
    bounded::<F8E4M3>();
    bounded::<F8E5M2>();
    bounded::<i8>();
}
