// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows that f32 cannot do: the same formulas in f64, one element at a time.
//!
//! In f64 no square of an f32 overflows or vanishes, infinities and NaN go the way of the formula, and nothing rounds but
//! what the numerical mode rounds. Such rows are rare, so this code is short rather than fast.

use super::finish::Finish;
use super::rms::Statistic;
use super::source::Source;
use crate::simd::Elem;

/// One row of an RMS or L2 norm.
///
/// # Safety
/// - `width` columns are within the row of `source`, `finish` and `out`.
#[cold]
#[inline(never)]
pub(super) unsafe fn scaled_row<T: Elem, Src: Source, F: Finish>(
    source: Src,
    finish: F,
    out: *mut T,
    width: usize,
    statistic: Statistic,
    round: bool,
) {
    // SAFETY: the caller's clauses.
    unsafe {
        let inverse = inverse(source, width, statistic);
        scaled_columns::<T, T, _, _>(source, finish, out, width, inverse, round);
    }
}

/// The reciprocal of a row's divisor.
///
/// # Safety
/// - `width` columns are within the row of `source`.
#[cold]
#[inline(never)]
pub(super) unsafe fn inverse<Src: Source>(source: Src, width: usize, statistic: Statistic) -> f64 {
    let mut sum = 0.0;
    for i in 0..width {
        // SAFETY: the caller's clause: `i < width`.
        let v = unsafe { source.value(i) };
        sum += v * v;
    }
    1.0 / statistic.divisor(sum, width)
}

/// Columns of such a row: rounded to `T` on the way with `round`, and at the end to `V`.
///
/// # Safety
/// - `width` columns are within the row of `source`, `finish` and `out`.
#[cold]
#[inline(never)]
pub(super) unsafe fn scaled_columns<T: Elem, V: Elem, Src: Source, F: Finish>(
    source: Src,
    finish: F,
    out: *mut V,
    width: usize,
    inverse: f64,
    round: bool,
) {
    for i in 0..width {
        // SAFETY: the caller's clause: `i < width`.
        unsafe {
            let v = source.value(i);
            source.keep_value(i, v);
            let y = v * inverse;
            let y = if round { T::from_f64(y).to_f64() } else { y };
            out.add(i).write(V::from_f64(finish.value(i, y, round)));
        }
    }
}

/// One row of a layer norm.
///
/// # Safety
/// - `width` columns are within the row of `source`, `finish` and `out`.
#[cold]
#[inline(never)]
pub(super) unsafe fn centred_row<T: Elem, Src: Source, F: Finish>(
    source: Src,
    finish: F,
    out: *mut T,
    width: usize,
    eps: f64,
) {
    let n = width as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..width {
        // SAFETY: the caller's clause: `i < width`.
        sum += unsafe { source.value(i) };
    }
    let mean = sum / n;
    for i in 0..width {
        // SAFETY: the caller's clause: `i < width`.
        let d = unsafe { source.value(i) } - mean;
        squares += d * d;
    }
    let inverse = 1.0 / (squares / n + eps).sqrt();
    for i in 0..width {
        // SAFETY: the caller's clause: `i < width`.
        unsafe {
            let y = (source.value(i) - mean) * inverse;
            out.add(i).write(T::from_f64(finish.value(i, y, false)));
        }
    }
}
