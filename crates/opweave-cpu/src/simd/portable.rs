// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Plain Rust over arrays of four: correct everywhere, and the compiler vectorises it with what the target has for sure.

use half::{bf16, f16};

use super::code::portable as code;
use super::{Code, CodeTable, Elem, MAX_LANES, Simd, SimdOp};

/// Needs nothing of the hardware.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

const LANES: usize = 4;
type V = [f32; LANES];

#[inline(always)]
fn map(a: V, f: impl Fn(f32) -> f32) -> V {
    let mut out = a;
    for lane in &mut out {
        *lane = f(*lane);
    }
    out
}

#[inline(always)]
fn zip(a: V, b: V, f: impl Fn(f32, f32) -> f32) -> V {
    let mut out = a;
    for (lane, b) in out.iter_mut().zip(b) {
        *lane = f(*lane, b);
    }
    out
}

/// Widens an f16 without branches. The exponent is moved to the f32's place and corrected by a multiplication, which also
/// normalises subnormals; infinity and NaN get the top exponent back.
#[inline(always)]
pub(super) fn widen_f16(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // 2^112: the difference of the two exponent biases, 127 - 15.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let special = if bits & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
    f32::from_bits(scaled.to_bits() | special | (u32::from(bits & 0x8000) << 16))
}

/// Rounds to f16 without branches that a vectoriser could not turn into selects.
#[inline(always)]
pub(super) fn narrow_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let sign = (bits >> 16) & 0x8000;
    // Rebias and round at bit 13: half an ulp, less one unless the kept part is odd. A carry out of the mantissa is the
    // next exponent, and out of the top one is infinity.
    let rebias = (15_u32.wrapping_sub(127)) << 23;
    let normal = magnitude.wrapping_add(rebias).wrapping_add(0xfff).wrapping_add((magnitude >> 13) & 1) >> 13;
    // Adding 0.5, whose ulp is the spacing 2^-24 of f16 subnormals, makes the addition round.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5_f32.to_bits());
    let nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    // From 65536 on everything is infinity; between 65520 and 65536 the carry above says so.
    let ordered = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
    let result = if magnitude > 0x7f80_0000 { nan } else { ordered };
    (result | sign) as u16
}

/// Widens a bf16: its bits are the upper half.
#[inline(always)]
pub(super) fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rounds to bf16.
#[inline(always)]
pub(super) fn narrow_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff).wrapping_add((bits >> 16) & 1) >> 16;
    // Rounding could carry a NaN to infinity or zero; its upper half with the quiet bit stays one.
    let nan = (bits >> 16) | 0x40;
    (if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { rounded }) as u16
}

impl Simd for Portable {
    const NAME: &'static str = "portable";
    const LANES: usize = LANES;
    const FUSED: bool = false;
    const SPECIALISE: bool = false;
    const STREAMS: bool = false;
    type F32 = V;
    type Bits = [u32; LANES];
    type CodeTable = ();

    #[inline(never)]
    fn run<O: SimdOp>(self, op: O) -> O::Output {
        op.eval(self)
    }

    #[inline(always)]
    fn splat(self, value: f32) -> V {
        [value; LANES]
    }

    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, a: V, b: V) -> V {
        zip(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn fma(self, a: V, b: V, c: V) -> V {
        // Not `mul_add`: without the instruction that is a call of a software routine per lane.
        self.add(self.mul(a, b), c)
    }

    #[inline(always)]
    fn two_product(self, a: V, b: V) -> [V; 2] {
        // Products of f32 are exact in f64.
        let lost = zip(a, b, |a, b| (f64::from(a) * f64::from(b) - f64::from(a * b)) as f32);
        [self.mul(a, b), lost]
    }

    #[inline(always)]
    fn max(self, a: V, b: V) -> V {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, a: V, b: V) -> V {
        zip(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn abs(self, a: V) -> V {
        map(a, f32::abs)
    }

    #[inline(always)]
    fn neg(self, a: V) -> V {
        map(a, |a| -a)
    }

    #[inline(always)]
    fn with_sign_of(self, a: V, sign: V) -> V {
        zip(a, sign, f32::copysign)
    }

    #[inline(always)]
    fn all_below(self, a: V, bound: f32) -> bool {
        // Without short circuits, which would become branches.
        a.into_iter().fold(true, |all, a| all & (a.abs() < bound))
    }

    #[inline(always)]
    fn select_sign(self, sign: V, if_negative: V, otherwise: V) -> V {
        let mut out = otherwise;
        for (i, lane) in out.iter_mut().enumerate() {
            if sign[i].is_sign_negative() {
                *lane = if_negative[i];
            }
        }
        out
    }

    #[inline(always)]
    fn power_of_two(self, n: V) -> V {
        map(n, |n| f32::from_bits(((n as i32 + 127) << 23) as u32))
    }

    #[inline(always)]
    fn scale(self, a: V, n: V) -> V {
        zip(a, n, |a, n| {
            let n = n.floor() as i32;
            let power = |n: i32| f32::from_bits((n.wrapping_add(127) << 23) as u32);
            a * power(n >> 1) * power(n - (n >> 1))
        })
    }

    const STEP_BITS: u32 = 0;

    #[inline(always)]
    fn step_power(self, k: V) -> V {
        // The shifter's own bits fall off at the top.
        map(k, |k| f32::from_bits((k.to_bits() << 23).wrapping_add(1.0_f32.to_bits())))
    }

    #[inline(always)]
    fn step_fraction(self, _: V) -> V {
        [1.0; LANES]
    }

    #[inline(always)]
    fn swap_pairs(self, a: V) -> V {
        let mut out = a;
        out.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| pair.swap(0, 1));
        out
    }

    #[inline(always)]
    fn round(self, a: V) -> V {
        map(a, f32::round_ties_even)
    }

    #[inline(always)]
    fn sum(self, a: V) -> f32 {
        (a[0] + a[2]) + (a[1] + a[3])
    }

    #[inline(always)]
    fn any_nan(self, a: V, b: V) -> bool {
        zip(a, b, |a, b| if a.is_nan() | b.is_nan() { 1.0 } else { 0.0 }).iter().sum::<f32>() > 0.0
    }

    #[inline(always)]
    fn first_equal(self, a: V, value: V) -> usize {
        a.iter().zip(value).position(|(&a, value)| a == value).unwrap_or(LANES)
    }

    #[inline(always)]
    fn round_f16(self, a: V) -> V {
        map(a, |a| widen_f16(narrow_f16(a)))
    }

    #[inline(always)]
    fn round_bf16(self, a: V) -> V {
        map(a, |a| widen_bf16(narrow_bf16(a)))
    }

    #[inline(always)]
    unsafe fn load_f32(self, p: *const f32) -> V {
        // SAFETY: the caller's clause: LANES elements are readable.
        unsafe { p.cast::<V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn load_f16(self, p: *const f16) -> V {
        // SAFETY: the caller's clause: LANES elements are readable, and f16 is two bytes.
        let bits = unsafe { p.cast::<[u16; LANES]>().read_unaligned() };
        let mut out = [0.0; LANES];
        for (lane, bits) in out.iter_mut().zip(bits) {
            *lane = widen_f16(bits);
        }
        out
    }

    #[inline(always)]
    unsafe fn load_bf16(self, p: *const bf16) -> V {
        // SAFETY: the caller's clause: LANES elements are readable, and bf16 is two bytes.
        let bits = unsafe { p.cast::<[u16; LANES]>().read_unaligned() };
        let mut out = [0.0; LANES];
        for (lane, bits) in out.iter_mut().zip(bits) {
            *lane = widen_bf16(bits);
        }
        out
    }

    #[inline(always)]
    unsafe fn store_f32<const STREAM: bool>(self, p: *mut f32, v: V) {
        // SAFETY: the caller's clause: LANES elements are writable.
        unsafe { p.cast::<V>().write_unaligned(v) }
    }

    #[inline(always)]
    unsafe fn store_f16<const STREAM: bool>(self, p: *mut f16, v: V) {
        let mut bits = [0_u16; LANES];
        for (lane, v) in bits.iter_mut().zip(v) {
            *lane = narrow_f16(v);
        }
        // SAFETY: the caller's clause: LANES elements are writable, and f16 is two bytes.
        unsafe { p.cast::<[u16; LANES]>().write_unaligned(bits) }
    }

    #[inline(always)]
    unsafe fn store_bf16<const STREAM: bool>(self, p: *mut bf16, v: V) {
        let mut bits = [0_u16; LANES];
        for (lane, v) in bits.iter_mut().zip(v) {
            *lane = narrow_bf16(v);
        }
        // SAFETY: the caller's clause: LANES elements are writable, and bf16 is two bytes.
        unsafe { p.cast::<[u16; LANES]>().write_unaligned(bits) }
    }

    #[inline(always)]
    unsafe fn load_code<C: Code>(self, p: *const C) -> V {
        // SAFETY: the caller's clause: LANES elements are readable, and a code is one byte.
        let bits = unsafe { p.cast::<[u8; LANES]>().read_unaligned() };
        let mut out = [0.0; LANES];
        for (lane, bits) in out.iter_mut().zip(bits) {
            *lane = code::widen(C::KIND, bits);
        }
        out
    }

    #[inline(always)]
    unsafe fn store_code<C: Code, const STREAM: bool>(self, p: *mut C, v: V) {
        let mut bits = [0_u8; LANES];
        for (lane, v) in bits.iter_mut().zip(v) {
            *lane = code::narrow(C::KIND, v);
        }
        // SAFETY: the caller's clause: LANES elements are writable, and a code is one byte.
        unsafe { p.cast::<[u8; LANES]>().write_unaligned(bits) }
    }

    #[inline(always)]
    unsafe fn store_bounded_code<C: Code, const STREAM: bool>(self, p: *mut C, v: V, sign: V) {
        let mut bits = [0_u8; LANES];
        for ((lane, v), sign) in bits.iter_mut().zip(v).zip(sign) {
            *lane = code::narrow_bounded(C::KIND, v, sign);
        }
        // SAFETY: the caller's clause: LANES elements are writable, and a code is one byte.
        unsafe { p.cast::<[u8; LANES]>().write_unaligned(bits) }
    }

    #[inline(always)]
    fn code_table<T: Elem, C: Code>(self, _: &CodeTable) {}

    #[inline(always)]
    fn round_code<C: Code>(self, a: V) -> V {
        map(a, |a| code::widen(C::KIND, code::narrow(C::KIND, a)))
    }

    #[inline(always)]
    unsafe fn load_magnitudes_32(self, p: *const u32) -> [u32; LANES] {
        // SAFETY: the caller's clause: LANES elements are readable.
        let mut bits = unsafe { p.cast::<[u32; LANES]>().read_unaligned() };
        for word in &mut bits {
            *word &= 0x7fff_ffff;
        }
        bits
    }

    #[inline(always)]
    unsafe fn load_magnitudes_16(self, p: *const u16) -> [u32; LANES] {
        // SAFETY: the caller's clause: twice LANES elements of two bytes are readable.
        let mut bits = unsafe { p.cast::<[u32; LANES]>().read_unaligned() };
        for word in &mut bits {
            *word &= 0x7fff_7fff;
        }
        bits
    }

    #[inline(always)]
    fn larger_32(self, a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        std::array::from_fn(|i| a[i].max(b[i]))
    }

    #[inline(always)]
    fn larger_16(self, a: [u32; LANES], b: [u32; LANES]) -> [u32; LANES] {
        std::array::from_fn(|i| (a[i] & 0xffff_0000).max(b[i] & 0xffff_0000) | (a[i] & 0xffff).max(b[i] & 0xffff))
    }

    #[inline(always)]
    fn any_above_32(self, a: [u32; LANES], limit: [u32; LANES]) -> bool {
        a.into_iter().zip(limit).fold(false, |any, (a, limit)| any | (a > limit))
    }

    #[inline(always)]
    fn any_above_16(self, a: [u32; LANES], limit: [u32; LANES]) -> bool {
        let above = |a: u32, limit: u32| (a >> 16 > limit >> 16) | (a & 0xffff > limit & 0xffff);
        a.into_iter().zip(limit).fold(false, |any, (a, limit)| any | above(a, limit))
    }

    #[inline(always)]
    fn words(self, a: [u32; LANES]) -> [u32; MAX_LANES] {
        let mut words = [0_u32; MAX_LANES];
        words[..LANES].copy_from_slice(&a);
        words
    }

    #[inline(always)]
    unsafe fn load_words(self, p: *const u32) -> [u32; LANES] {
        // SAFETY: the caller's clause.
        unsafe { p.cast::<[u32; LANES]>().read_unaligned() }
    }

    #[inline(always)]
    fn splat_word(self, word: u32) -> [u32; LANES] {
        [word; LANES]
    }

    #[inline(always)]
    fn low_nibbles(self, mut a: [u32; LANES]) -> [u32; LANES] {
        for word in &mut a {
            *word &= 0x0f0f_0f0f;
        }
        a
    }

    #[inline(always)]
    fn high_nibbles(self, mut a: [u32; LANES]) -> [u32; LANES] {
        for word in &mut a {
            *word = *word >> 4 & 0x0f0f_0f0f;
        }
        a
    }

    #[inline(always)]
    fn byte(self, a: [u32; LANES], at: usize) -> V {
        let mut out = [0.0; LANES];
        for (out, word) in out.iter_mut().zip(a) {
            *out = (word >> (8 * at) & 0xff) as f32;
        }
        out
    }

    #[inline(always)]
    fn nibble(self, a: [u32; LANES], at: usize) -> V {
        let mut out = [0.0; LANES];
        for (out, word) in out.iter_mut().zip(a) {
            *out = (word >> (4 * at) & 15) as f32;
        }
        out
    }

    #[inline(always)]
    fn integers(self, a: [u32; LANES]) -> V {
        let mut out = [0.0; LANES];
        for (out, word) in out.iter_mut().zip(a) {
            *out = word as i32 as f32;
        }
        out
    }

    #[inline(always)]
    fn dot_bytes<const WIDE: bool>(self, mut sum: [u32; LANES], codes: [u32; LANES], x: [u32; LANES]) -> [u32; LANES] {
        for (sum, (code, x)) in sum.iter_mut().zip(codes.into_iter().zip(x)) {
            for (code, x) in code.to_le_bytes().into_iter().zip(x.to_le_bytes()) {
                *sum = sum.wrapping_add((i32::from(code) * i32::from(x as i8)) as u32);
            }
        }
        sum
    }

    #[inline(always)]
    fn fence(self) {}

    #[inline(always)]
    fn prefetch(self, _: *const u8) {}

    #[inline(always)]
    fn prefetch_near(self, _: *const u8) {}
}
