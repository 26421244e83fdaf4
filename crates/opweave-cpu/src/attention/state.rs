// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is known of a row after some of its keys: the largest score, the sum of exponentials, the sum of weighted values.

use opweave_contract::ops::attention::LseBase;

use crate::simd::{Elem, Simd};

/// A row without its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total {
    /// The largest score; -infinity where there is none.
    pub(super) largest: f32,
    /// The sum of `e^(score - largest)`.
    pub(super) sum: f32,
}

impl Total {
    /// Of no keys.
    pub(super) const EMPTY: Total = Total { largest: f32::NEG_INFINITY, sum: 0.0 };
}

/// What a score is compared with: the largest, but for a row that has none yet.
#[inline(always)]
pub(super) fn shift(largest: f32) -> f32 {
    if largest == f32::NEG_INFINITY { 0.0 } else { largest }
}

/// Adds the row `other`, of later keys, to the row `total`.
///
/// # Safety
/// - Both rows are valid for `width` values, a multiple of the vector, `values` to write too; they are apart.
#[inline(always)]
pub(super) unsafe fn merge<S: Simd>(
    s: S,
    total: &mut Total,
    values: *mut f32,
    other: Total,
    others: *const f32,
    width: usize,
) {
    // NaN is on one side or the other.
    let largest = if other.largest > total.largest { other.largest } else { total.largest };
    let [mine, its] = [total.largest, other.largest].map(|of| (of - shift(largest)).exp());
    *total = Total { largest, sum: total.sum * mine + other.sum * its };
    let (mine, its, mut i) = (s.splat(mine), s.splat(its), 0);
    while i < width {
        // SAFETY: the caller's clause.
        unsafe {
            let more = s.mul(s.load_f32(others.add(i)), its);
            s.store_f32::<false>(values.add(i), s.fma(s.load_f32(values.add(i)), mine, more));
        }
        i += S::LANES;
    }
}

/// The result of a row: what its values are multiplied by, and the logarithm of its denominator. None for a row of no terms,
/// which is zeros.
#[inline(always)]
pub(super) fn finish(total: Total, sink: Option<f32>, base: LseBase) -> (Option<f32>, f32) {
    let in_base = |lse: f64| if base == LseBase::Two { lse * std::f64::consts::LOG2_E } else { lse };
    let (largest, sum) = (f64::from(total.largest), f64::from(total.sum));
    if total.sum == 0.0 {
        return (None, in_base(sink.map_or(f64::NEG_INFINITY, f64::from)) as f32);
    }
    let Some(sink) = sink.map(f64::from) else {
        return (Some((1.0 / sum) as f32), in_base(largest + sum.ln()) as f32);
    };
    let most = if sink > largest { sink } else { largest };
    let mine = (largest - most).exp();
    let all = sum * mine + (sink - most).exp();
    (Some((mine / all) as f32), in_base(most + all.ln()) as f32)
}

/// Writes a row: `values` times `factor`, or zeros. `values` are in the pair order of the type T that they were summed up
/// from.
///
/// # Safety
/// - `values` is valid to read and `out` to write `width` elements, a multiple of the vector.
#[inline(always)]
pub(super) unsafe fn write<S: Simd, T: Elem, U: Elem>(
    s: S,
    values: *const f32,
    factor: Option<f32>,
    out: *mut U,
    width: usize,
) {
    let zero = s.splat(0.0);
    let mut i = 0;
    // SAFETY: the caller's clauses.
    unsafe {
        let Some(factor) = factor.map(|factor| s.splat(factor)) else {
            while i < width {
                U::store::<S, false>(s, out.add(i), zero);
                i += S::LANES;
            }
            return;
        };
        while i + 2 * S::LANES <= width {
            let pair = [s.load_f32(values.add(i)), s.load_f32(values.add(i + S::LANES))].map(|v| s.mul(v, factor));
            if T::DTYPE == U::DTYPE {
                U::store_pair::<S, false>(s, out.add(i), pair);
            } else {
                U::store::<S, false>(s, out.add(i), pair[0]);
                U::store::<S, false>(s, out.add(i + S::LANES), pair[1]);
            }
            i += 2 * S::LANES;
        }
        if i < width {
            U::store::<S, false>(s, out.add(i), s.mul(s.load_f32(values.add(i)), factor));
        }
    }
}

/// Reads a query times `scale`, in the pair order of the type T of the keys.
///
/// # Safety
/// - `q` is valid to read and `to` to write `width` elements, a multiple of the vector.
#[inline(always)]
pub(super) unsafe fn read_query<S: Simd, T: Elem, U: Elem>(s: S, q: *const U, scale: f32, to: *mut f32, width: usize) {
    let (scale, mut i) = (s.splat(scale), 0);
    // SAFETY: the caller's clauses.
    unsafe {
        while i + 2 * S::LANES <= width {
            let pair = T::pair_order(s, [U::load(s, q.add(i)), U::load(s, q.add(i + S::LANES))]);
            s.store_f32::<false>(to.add(i), s.mul(pair[0], scale));
            s.store_f32::<false>(to.add(i + S::LANES), s.mul(pair[1], scale));
            i += 2 * S::LANES;
        }
        if i < width {
            s.store_f32::<false>(to.add(i), s.mul(U::load(s, q.add(i)), scale));
        }
    }
}
