// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The turns.

use super::scale::Scale;
use crate::memory::{load, store};
use crate::simd::{Elem, Simd};

/// The product, rounded to `T` where the mode rounds it.
#[inline(always)]
fn product<S: Simd, T: Elem>(s: S, a: S::F32, b: S::F32, rounded: bool) -> S::F32 {
    let product = s.mul(a, b);
    if T::NARROW && rounded { T::round(s, product) } else { product }
}

/// Turns `count` pairs from `first` on, each of one feature of the first half of `2 * pairs` features and one of the second.
///
/// # Safety
/// - `x` is valid for `2 * pairs` elements, `cosines` and `sines` for `count`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "bounds and operands of a loop, in registers")]
pub(super) unsafe fn halves<S: Simd, T: Elem, C: Scale>(
    s: S,
    x: *mut T,
    first: usize,
    pairs: usize,
    count: usize,
    scale: C,
    cosines: *const f32,
    sines: *const f32,
    rounded: bool,
) {
    let mut i = 0;
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + S::LANES <= count {
            pair::<S, T, C, true>(s, x, first + i, pairs, S::LANES, scale, cosines.add(i), sines.add(i), rounded);
            i += S::LANES;
        }
        if i < count {
            pair::<S, T, C, false>(s, x, first + i, pairs, count - i, scale, cosines.add(i), sines.add(i), rounded);
        }
    }
}

/// Features `i..i + n` of the first half, and their partners.
///
/// # Safety
/// - As for [`halves`].
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "bounds and operands of a loop, in registers")]
unsafe fn pair<S: Simd, T: Elem, C: Scale, const FULL: bool>(
    s: S,
    x: *mut T,
    i: usize,
    pairs: usize,
    n: usize,
    scale: C,
    cosines: *const f32,
    sines: *const f32,
    rounded: bool,
) {
    // SAFETY: the caller's clause.
    unsafe {
        let (cosine, sine) = (load::<S, f32, FULL>(s, cosines, n), load::<S, f32, FULL>(s, sines, n));
        let a = scale.apply::<S, FULL>(s, i, n, load::<S, T, FULL>(s, x.add(i), n));
        let b = scale.apply::<S, FULL>(s, pairs + i, n, load::<S, T, FULL>(s, x.add(pairs + i), n));
        let turn = |a, b| product::<S, T>(s, a, b, rounded);
        let first = s.sub(turn(a, cosine), turn(b, sine));
        let second = s.add(turn(b, cosine), turn(a, sine));
        store::<S, T, FULL>(s, x.add(i), n, first, false);
        store::<S, T, FULL>(s, x.add(pairs + i), n, second, false);
    }
}

/// Turns pairs of neighbours, `count` features from `x` on, of which the first is feature `from` of its head. `sines` are
/// negative for the first feature of each pair.
///
/// # Safety
/// - `x`, `cosines` and `sines` are valid for `count` elements.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "bounds and operands of a loop, in registers")]
pub(super) unsafe fn neighbours<S: Simd, T: Elem, C: Scale>(
    s: S,
    x: *mut T,
    from: usize,
    count: usize,
    scale: C,
    cosines: *const f32,
    sines: *const f32,
    rounded: bool,
) {
    let mut i = 0;
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + S::LANES <= count {
            let v = scale.apply::<S, true>(s, from + i, S::LANES, T::load(s, x.add(i)));
            let (cosine, sine) = (s.load_f32(cosines.add(i)), s.load_f32(sines.add(i)));
            let turned =
                s.add(product::<S, T>(s, v, cosine, rounded), product::<S, T>(s, s.swap_pairs(v), sine, rounded));
            T::store::<S, false>(s, x.add(i), turned);
            i += S::LANES;
        }
        if i < count {
            let n = count - i;
            let v = scale.apply::<S, false>(s, from + i, n, T::load_tail(s, x.add(i), n));
            let (cosine, sine) = (f32::load_tail(s, cosines.add(i), n), f32::load_tail(s, sines.add(i), n));
            let turned =
                s.add(product::<S, T>(s, v, cosine, rounded), product::<S, T>(s, s.swap_pairs(v), sine, rounded));
            T::store_tail(s, x.add(i), n, turned);
        }
    }
}

/// Scales features `from..to`, which are not turned.
///
/// # Safety
/// - `x` is valid for `to` elements.
#[inline(always)]
pub(super) unsafe fn rest<S: Simd, T: Elem, C: Scale>(s: S, x: *mut T, from: usize, to: usize, scale: C) {
    let mut i = from;
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + S::LANES <= to {
            T::store::<S, false>(s, x.add(i), scale.apply::<S, true>(s, i, S::LANES, T::load(s, x.add(i))));
            i += S::LANES;
        }
        if i < to {
            let n = to - i;
            T::store_tail(s, x.add(i), n, scale.apply::<S, false>(s, i, n, T::load_tail(s, x.add(i), n)));
        }
    }
}
