// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers to codes under a scale.
//!
//! What works on whole rows here is a function of its own, so that there is one of it for each pair of types, and not one in every body
//! that quantises.

use std::marker::PhantomData;

use opweave_tensor::DType;

use super::magnitude::{Activation, largest_magnitude};
use crate::memory::{CACHE_LINE, is_vector_aligned};
use crate::simd::{Code, CodeKind, CodeTable, Elem, Simd, SimdOp, prescale};

/// What turns a number into a code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coding {
    /// The divisor; NaN makes every code that of NaN.
    pub(crate) scale: f32,
    /// No i8 code is below this.
    pub(crate) lowest: f32,
    /// Added to the rounded quotient, for i8.
    pub(crate) zero_point: Option<f32>,
}

/// The values of a vector before they are rounded to codes.
#[inline(always)]
fn quotients<S: Simd, C: Code>(s: S, coding: Coding, v: S::F32) -> S::F32 {
    let q = s.div(v, s.splat(coding.scale));
    if const { !matches!(C::KIND, CodeKind::I8) } {
        return q;
    }
    let q = match coding.zero_point {
        // Both are integers, and what is too large for their sum to be exact saturates.
        Some(zero_point) => s.add(s.round(q), s.splat(zero_point)),
        None => q,
    };
    // NaN stays: `max` gives its second operand then.
    s.max(s.splat(coding.lowest), q)
}

/// Multiplications in place of a division, where they are known to give every element the code that the division gives it;
/// see [`Product::of`]. With `ONCE`, one multiplication where there would be three operations.
#[derive(Clone, Copy)]
struct Product<V, const ONCE: bool> {
    /// The reciprocal times the prescale.
    factor: V,
    /// The scale over the prescale, negated.
    divisor: V,
}

impl<V: Copy, const ONCE: bool> Product<V, ONCE> {
    /// What to multiply by, if that does for `scale`.
    ///
    /// A code changes between neighbours in f32 only at a tie between two codes: an odd number times a power of two, below 16
    /// or 32 for f8, below 256 for i8.
    ///
    /// With `ONCE`, the product by the rounded reciprocal is within 2^-23 of the quotient in proportion. It has the quotient's
    /// code where no element comes that close to an odd multiple of the scale, which is looked at for all of them; a power of
    /// two divides without rounding. One scale in sixty fails for f16 and f8e4m3. A scale that was made of an element does:
    /// the largest codes are 7 times a power of two, so 7 times the scale is next to that element.
    ///
    /// Otherwise the product is corrected, `q + (x - q scale) r` with two fused operations, which leaves less than 2^-46 of the
    /// quotient before its rounding. So the result is the division's unless `x / scale` lies that close to the middle between
    /// two neighbours in f32, and the code is the division's unless, besides, one of the two is a tie. Such a middle times the
    /// 24 bits of the scale's significand has that significand itself, or its negative, in its last 17 bits; for `x`, whose
    /// bits end seven places above, to be within 16 units of that, the scale's last 17 bits are within 16 units of zero. Scales
    /// within 64 units of that, other than exactly there, are divided by. Exactly there the product stays 2^17 units away.
    ///
    /// The range keeps all intermediate values normal where they matter.
    #[inline(always)]
    fn of<S: Simd<F32 = V>, T: Elem, C: Code>(s: S, scale: f32) -> Option<Self> {
        const RANGE: std::ops::RangeInclusive<f32> = 1.0 / (1_u64 << 60) as f32..=(1_u64 << 60) as f32;
        let safe = if ONCE {
            let bits = if matches!(T::DTYPE, DType::BF16) { 8 } else { 11 };
            is_apart(scale, bits, if matches!(C::KIND, CodeKind::F8E4M3) { 32 } else { 16 })
        } else {
            let last = scale.to_bits() & 0x1_ffff;
            S::FUSED && (last == 0 || (64 < last && last < 0x2_0000 - 64))
        };
        let prescale = prescale(C::KIND);
        (safe && RANGE.contains(&scale))
            .then(|| Product { factor: s.splat(1.0 / scale * prescale), divisor: s.splat(-(scale / prescale)) })
    }

    /// [`Self::of`] the scale, if the numbers of the row are bounded.
    ///
    /// # Safety
    /// - `input` is valid for reading `row.width` elements.
    #[inline(always)]
    unsafe fn for_row<S: Simd<F32 = V>, T: Activation, C: Code>(
        s: S,
        input: *const T,
        coding: Coding,
        row: Row<T>,
    ) -> Option<Self> {
        let bounded = match row.bounds {
            _ if coding.zero_point.is_some() => false,
            Bounds::Known(bounded) => bounded,
            // SAFETY: the caller's clause.
            Bounds::LargestCode(most) => unsafe { largest_magnitude(s, input, row.width, None) / coding.scale <= most },
        };
        if bounded { Self::of::<S, T, C>(s, coding.scale) } else { None }
    }

    /// The quotient times the prescale. Zeros may lose their sign.
    #[inline(always)]
    fn quotient<S: Simd<F32 = V>>(self, s: S, v: V) -> V {
        let q = s.mul(v, self.factor);
        if ONCE { q } else { s.fma(s.fma(q, self.divisor, v), self.factor, q) }
    }
}

/// Whether `scale` is a power of two, or no odd number below `limit`, times its significand, comes within 2^-22 in proportion of
/// a number of `bits` significant bits.
#[inline(always)]
fn is_apart(scale: f32, bits: u32, limit: u32) -> bool {
    let significand = scale.to_bits() & 0x7f_ffff | 0x80_0000;
    if significand == 0x80_0000 {
        return true;
    }
    let near = (1..limit).step_by(2).fold(false, |near, t| {
        let product = t * significand;
        // The first bit in front: what is behind the first `bits` is how far the product is above a number of that many.
        let behind = product << product.leading_zeros() << bits;
        near | (behind.wrapping_add(1 << (10 + bits)) <= 2 << (10 + bits))
    });
    !near
}

/// What is known of the elements of a row.
#[derive(Clone, Copy)]
pub(crate) enum Bounds {
    /// Whether none is NaN and no quotient is beyond the largest code.
    Known(bool),
    /// Nothing, but with the largest code it can be found out, if need be.
    LargestCode(f32),
}

/// How the elements of a row are brought to codes.
#[derive(Clone, Copy)]
pub(crate) struct Row<T> {
    /// Elements.
    pub(crate) width: usize,
    /// What is known of them.
    pub(crate) bounds: Bounds,
    /// Whether codes go past the caches where they are aligned, and meanwhile elements from `next` on are fetched.
    pub(crate) stream: bool,
    /// What is read next.
    pub(crate) next: *const T,
    /// How many lines of it are fetched for each line of codes.
    pub(crate) lines: usize,
}

/// Whether the instruction set has use for a table from T to C.
const fn has_tables<S: Simd, T: Elem, C: Code>() -> bool {
    S::TABLES && T::NARROW && !matches!(C::KIND, CodeKind::I8)
}

/// The table for codes under `scale`, where the instruction set has use for one and there is one.
#[inline(always)]
pub(crate) fn table_of<S: Simd, T: Elem, C: Code>(s: S, coding: Coding) -> Option<CodeTable> {
    if has_tables::<S, T, C>() { s.run(Table { scale: coding.scale, types: PhantomData::<fn(T, C)> }) } else { None }
}

struct Table<T, C> {
    scale: f32,
    types: PhantomData<fn(T, C)>,
}

impl<T: Elem, C: Code> SimdOp for Table<T, C> {
    type Output = Option<CodeTable>;

    #[inline(always)]
    fn eval<S: Simd>(self, _: S) -> Option<CodeTable> {
        CodeTable::new(T::DTYPE, C::KIND, self.scale)
    }
}

/// Encodes a row of elements. With `ONCE`, its scale is likely to be one of those for which a single multiplication does.
///
/// A line of codes is made by `table`, which [`table_of`] gave for the same coding, else by multiplications where they are known to do,
/// else by divisions.
///
/// # Safety
/// - `input` is valid for reading and `out` for writing `row.width` elements, and they do not overlap.
/// - If `row.stream`, a fence follows.
#[inline(always)]
pub(crate) unsafe fn encode<S: Simd, T: Activation, C: Code + Elem, const ONCE: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    coding: Coding,
    table: Option<&CodeTable>,
    row: Row<T>,
) {
    // What has as many bits as f32, and i8 with its many ties, would fail too often.
    if const { ONCE && T::NARROW && !matches!(C::KIND, CodeKind::I8) } {
        s.run(Encode::<T, C, true> { input, out, coding, table, row });
    } else {
        s.run(Encode::<T, C, false> { input, out, coding, table, row });
    }
}

/// [`encode`], whose clauses hold wherever one is made.
struct Encode<'a, T, C, const ONCE: bool> {
    input: *const T,
    out: *mut C,
    coding: Coding,
    table: Option<&'a CodeTable>,
    row: Row<T>,
}

impl<T: Activation, C: Code + Elem, const ONCE: bool> SimdOp for Encode<'_, T, C, ONCE> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let Encode { input, out, coding, table, row } = self;
        let table = match table {
            Some(table) if has_tables::<S, T, C>() => Some(s.code_table::<T, C>(table)),
            _ => None,
        };
        // SAFETY: the clauses of `encode`, which alone makes one.
        unsafe { encode_row::<S, T, C, ONCE>(s, input, out, coding, table, row) }
    }
}

/// # Safety
/// - As for [`encode`].
#[inline(always)]
unsafe fn encode_row<S: Simd, T: Activation, C: Code + Elem, const ONCE: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    coding: Coding,
    table: Option<S::CodeTable>,
    row: Row<T>,
) {
    let Row { width, .. } = row;
    let stream = row.stream && is_vector_aligned::<S, C>(out);
    // A whole line of codes at a time: streamed halves would have to be combined on their way out.
    let step = CACHE_LINE;
    let mut i = 0;
    // SAFETY: the caller's clauses, by the loops' bounds; streamed only where a vector of codes is aligned.
    unsafe {
        // Looked for when it is first asked for, which may be never where there is a table.
        let mut found = None;
        while i + step <= width {
            row.prefetch(s, i, stream);
            let (from, to) = (input.add(i), out.add(i));
            i += step;
            let done = match table {
                Some(table) if stream => s.store_codes_by_table::<T, C, true>(table, from, to),
                Some(table) => s.store_codes_by_table::<T, C, false>(table, from, to),
                None => false,
            };
            if done {
                continue;
            }
            let product = match found {
                Some(product) => product,
                None => Product::<S::F32, ONCE>::for_row::<S, T, C>(s, input, coding, row),
            };
            found = Some(product);
            match product {
                Some(product) if stream => line_of_products::<S, T, C, ONCE, true>(s, from, to, product),
                Some(product) => line_of_products::<S, T, C, ONCE, false>(s, from, to, product),
                None if stream => line_of_quotients::<S, T, C, true>(s, from, to, coding),
                None => line_of_quotients::<S, T, C, false>(s, from, to, coding),
            }
        }
        while i + S::LANES <= width {
            C::store::<S, false>(s, out.add(i), quotients::<S, C>(s, coding, T::load(s, input.add(i))));
            i += S::LANES;
        }
        if i < width {
            let q = quotients::<S, C>(s, coding, T::load_tail(s, input.add(i), width - i));
            C::store_tail(s, out.add(i), width - i, q);
        }
    }
}

/// A line of codes by division.
///
/// # Safety
/// - As for [`line_of_products`].
#[inline(always)]
unsafe fn line_of_quotients<S: Simd, T: Elem, C: Code + Elem, const STREAM: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    coding: Coding,
) {
    // A loop for either: with the question in it, plain Rust takes three times as long.
    // SAFETY: the caller's clauses.
    unsafe {
        match coding.zero_point {
            Some(_) => quotients_of_line::<S, T, C, STREAM>(s, input, out, coding),
            None => quotients_of_line::<S, T, C, STREAM>(s, input, out, Coding { zero_point: None, ..coding }),
        }
    }
}

/// # Safety
/// - As for [`line_of_products`].
#[inline(always)]
unsafe fn quotients_of_line<S: Simd, T: Elem, C: Code + Elem, const STREAM: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    coding: Coding,
) {
    for i in (0..CACHE_LINE).step_by(S::LANES) {
        // SAFETY: the caller's clauses: a line is a multiple of every vector.
        unsafe {
            let q = quotients::<S, C>(s, coding, T::load(s, input.add(i)));
            C::store::<S, STREAM>(s, out.add(i), q);
        }
    }
}

/// A line of codes whose quotients are products, of elements that are bounded.
///
/// # Safety
/// - `input` is valid for reading and `out` for writing a line's elements; the clauses of [`Simd::store_f32`] for `STREAM`.
#[inline(always)]
unsafe fn line_of_products<S: Simd, T: Elem, C: Code, const ONCE: bool, const STREAM: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    product: Product<S::F32, ONCE>,
) {
    let mut i = 0;
    // SAFETY: the caller's clauses, by the loop's bound.
    unsafe {
        while i < CACHE_LINE {
            let mut numbers = [s.splat(0.0); 4];
            let mut quotients = numbers;
            for k in 0..4 {
                numbers[k] = T::load(s, input.add(i + k * S::LANES));
                quotients[k] = product.quotient(s, numbers[k]);
            }
            s.store_bounded_codes::<C, STREAM>(out.add(i), quotients, numbers);
            i += 4 * S::LANES;
        }
    }
}

impl<T> Row<T> {
    /// Asks for the part of what is read next that belongs to the line of codes at `i`.
    #[inline(always)]
    fn prefetch<S: Simd>(&self, s: S, i: usize, stream: bool) {
        if stream {
            for line in 0..self.lines {
                s.prefetch(self.next.cast::<u8>().wrapping_add(i * self.lines + line * CACHE_LINE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_whose_multiples_have_few_bits_are_not_apart() {
        // A power of two divides without rounding; 3 has two bits, and three thirds have one.
        for (scale, bits, limit, apart) in [
            (1.0, 11, 32, true),
            (0.75, 8, 16, false),
            (1.0 / 3.0, 11, 32, false),
            (0.013, 11, 32, true),
            (0.013, 8, 16, true),
            // 2049 has one bit more than f16 has, 2047 as many.
            (2049.0 / 2048.0, 11, 2, true),
            (f32::from_bits((2049.0_f32 / 1024.0).to_bits() + 1), 11, 2, true),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 1), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() - 1), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 4), 11, 2, false),
            (f32::from_bits((2047.0_f32 / 1024.0).to_bits() + 5), 11, 2, true),
        ] {
            assert_eq!(is_apart(scale, bits, limit), apart, "{scale} {bits} {limit}");
        }
    }
}
