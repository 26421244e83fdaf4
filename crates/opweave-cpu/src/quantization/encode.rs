// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers to codes under a scale.
//!
//! What works on whole rows here is a function of its own, so that there is one of it for each pair of types, and not one in every body
//! that quantises.

use std::marker::PhantomData;

use super::magnitude::Activation;
use super::product::Product;
use crate::memory::{CACHE_LINE, is_vector_aligned, prefetch_step};
use crate::simd::{Code, CodeKind, CodeTable, Elem, Simd, SimdOp};

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

/// What is known of the elements of a row.
#[derive(Clone, Copy)]
pub(crate) enum Bounds {
    /// Whether none is NaN and no quotient is beyond the largest code.
    Known(bool),
    /// Nothing, but lines without NaN whose quotients are no larger than this are bounded.
    Quotient(f32),
}

/// How many bytes before its use memory is asked for that is read once: on another page of 4 KiB, since there the processor's own
/// fetching is not disturbed.
pub(crate) const AHEAD: usize = 8 << 10;

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
    let look = std::ptr::null();
    // What has as many bits as f32, and i8 with its many ties, would fail too often.
    if const { ONCE && T::NARROW && !matches!(C::KIND, CodeKind::I8) } {
        s.run(Encode::<T, C, true, false> { input, out, coding, table, row, look });
    } else {
        s.run(Encode::<T, C, false, false> { input, out, coding, table, row, look });
    }
}

/// [`encode`], and the largest magnitude of another row of as many elements, found meanwhile: so memory is read and written throughout.
///
/// # Safety
/// - As for [`encode`]; `look` is valid for reading `row.width` elements.
#[inline(always)]
pub(crate) unsafe fn encode_and_look<S: Simd, T: Activation, C: Code + Elem>(
    s: S,
    (input, out): (*const T, *mut C),
    coding: Coding,
    table: Option<&CodeTable>,
    row: Row<T>,
    look: *const T,
) -> f32 {
    s.run(Encode::<T, C, false, true> { input, out, coding, table, row, look })
}

/// [`encode`], or with `LOOK` [`encode_and_look`], whose clauses hold wherever one is made.
struct Encode<'a, T, C, const ONCE: bool, const LOOK: bool> {
    input: *const T,
    out: *mut C,
    coding: Coding,
    table: Option<&'a CodeTable>,
    row: Row<T>,
    look: *const T,
}

impl<T: Activation, C: Code + Elem, const ONCE: bool, const LOOK: bool> SimdOp for Encode<'_, T, C, ONCE, LOOK> {
    /// The largest magnitude with `LOOK`.
    type Output = f32;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> f32 {
        let Encode { input, out, coding, table, row, look } = self;
        let table = match table {
            Some(table) if has_tables::<S, T, C>() => Some(s.code_table::<T, C>(table)),
            _ => None,
        };
        // SAFETY: the clauses of `encode`, which alone makes one.
        unsafe { encode_row::<S, T, C, ONCE, LOOK>(s, (input, out), coding, table, row, look) }
    }
}

/// # Safety
/// - As for [`encode`] and, with `LOOK`, [`encode_and_look`].
#[inline(always)]
unsafe fn encode_row<S: Simd, T: Activation, C: Code + Elem, const ONCE: bool, const LOOK: bool>(
    s: S,
    (input, out): (*const T, *mut C),
    coding: Coding,
    table: Option<S::CodeTable>,
    row: Row<T>,
    look: *const T,
) -> f32 {
    let Row { width, .. } = row;
    let stream = row.stream && is_vector_aligned::<S, C>(out);
    // A whole line of codes at a time: streamed halves would have to be combined on their way out.
    let step = CACHE_LINE;
    let mut i = 0;
    // SAFETY: the caller's clauses, by the loops' bounds; streamed only where a vector of codes is aligned.
    unsafe {
        // Made when it is first asked for, which may be never where there is a table.
        let mut found = None;
        let mut largest = [s.splat_word(0); 2];
        while i + step <= width {
            row.prefetch(s, i, stream);
            if LOOK {
                largest = larger_of_line(s, largest, look.add(i));
            }
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
                None => Product::<S::F32, S::Bits, ONCE>::of::<S, T, C>(s, coding, row.bounds),
            };
            found = Some(product);
            match product {
                Some(product) if product.admits(s, from) => {
                    if stream {
                        line_of_products::<S, T, C, ONCE, true>(s, from, to, product, coding);
                    } else {
                        line_of_products::<S, T, C, ONCE, false>(s, from, to, product, coding);
                    }
                }
                _ if stream => line_of_quotients::<S, T, C, true>(s, from, to, coding),
                _ => line_of_quotients::<S, T, C, false>(s, from, to, coding),
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
        if !LOOK {
            return 0.0;
        }
        let whole = width / step * step;
        let rest = (whole..width).fold(0, |most, i| most.max(look.add(i).read().magnitude()));
        T::number(rest.max(T::largest_of(s, T::larger(s, largest[0], largest[1]))))
    }
}

/// The larger of magnitudes that were found before and those of a line.
///
/// # Safety
/// - `line` is valid for reading a line's elements.
#[inline(always)]
unsafe fn larger_of_line<S: Simd, T: Activation>(s: S, mut largest: [S::Bits; 2], line: *const T) -> [S::Bits; 2] {
    let step = T::PER_LANE * S::LANES;
    // SAFETY: the caller's clause: a line is a multiple of two vectors.
    unsafe {
        for i in (0..CACHE_LINE).step_by(2 * step) {
            largest[0] = T::larger(s, largest[0], T::load_magnitudes(s, line.add(i)));
            largest[1] = T::larger(s, largest[1], T::load_magnitudes(s, line.add(i + step)));
        }
    }
    largest
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
    product: Product<S::F32, S::Bits, ONCE>,
    coding: Coding,
) {
    // SAFETY: the caller's clauses; numbers that are not narrow are of f32.
    unsafe {
        if const { S::APART && !T::NARROW && !matches!(C::KIND, CodeKind::I8) }
            && let Some(factor) = product.apart
            && s.store_codes_apart::<C, STREAM>(s.splat(factor), input.cast(), out)
        {
            return;
        }
        match coding.zero_point {
            Some(_) if const { matches!(C::KIND, CodeKind::I8) } => {
                products_of_line::<S, T, C, ONCE, STREAM, true>(s, input, out, product, coding);
            }
            _ => products_of_line::<S, T, C, ONCE, STREAM, false>(s, input, out, product, coding),
        }
    }
}

/// With `MOVED`, i8 with a zero point.
///
/// # Safety
/// - As for [`line_of_products`].
#[inline(always)]
unsafe fn products_of_line<S: Simd, T: Elem, C: Code, const ONCE: bool, const STREAM: bool, const MOVED: bool>(
    s: S,
    input: *const T,
    out: *mut C,
    product: Product<S::F32, S::Bits, ONCE>,
    coding: Coding,
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
            if MOVED {
                let zero_point = coding.zero_point.unwrap_or_default();
                s.store_moved_codes::<STREAM>(out.add(i).cast(), quotients, zero_point, coding.lowest);
            } else {
                s.store_bounded_codes::<C, STREAM>(out.add(i), quotients, numbers);
            }
            i += 4 * S::LANES;
        }
    }
}

impl<T> Row<T> {
    /// Asks for the part of what is read next that belongs to the line of codes at `i`.
    #[inline(always)]
    fn prefetch<S: Simd>(&self, s: S, i: usize, stream: bool) {
        if stream {
            prefetch_step(s, self.next.cast::<u8>().wrapping_add(i * self.lines), self.lines * CACHE_LINE);
        }
    }
}
