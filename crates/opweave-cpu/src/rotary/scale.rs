// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What becomes of a feature before it is turned.

use std::marker::PhantomData;

use opweave_tensor::DType;

use super::HeadNorm;
use crate::memory::{load, load_some};
use crate::normalization::Columns;
use crate::simd::{Elem, Simd};

/// Features whose squares are summed in f32 before f64 takes them up.
const BLOCK: usize = 512;

/// Scales features.
pub(super) trait Scale: Copy {
    /// Whether it changes anything.
    const CHANGES: bool;

    /// Features `i..i + n` (`n` = `S::LANES` if `FULL`) of a head, given as `v`.
    ///
    /// # Safety
    /// - They are features of the head.
    unsafe fn apply<S: Simd, const FULL: bool>(self, s: S, i: usize, n: usize, v: S::F32) -> S::F32;
}

/// Features as they stand.
#[derive(Clone, Copy)]
pub(super) struct Bare;

impl Scale for Bare {
    const CHANGES: bool = false;

    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(self, _: S, _: usize, _: usize, v: S::F32) -> S::F32 {
        v
    }
}

/// Features over the root mean square of the head, times a weight.
#[derive(Clone, Copy)]
pub(super) struct Normed<T> {
    inverse: f32,
    weight: Option<Columns>,
    round: bool,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem> Normed<T> {
    #[inline(always)]
    pub(super) fn new(inverse: f32, norm: &HeadNorm) -> Self {
        Normed { inverse, weight: norm.weight, round: T::NARROW && norm.round, dtype: PhantomData }
    }
}

impl<T: Elem> Scale for Normed<T> {
    const CHANGES: bool = true;

    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(self, s: S, i: usize, n: usize, v: S::F32) -> S::F32 {
        let mut y = s.mul(v, s.splat(self.inverse));
        if let Some(weight) = self.weight {
            // SAFETY: the trait's clause: the weight has a column for each feature, of one of two dtypes.
            let weight = unsafe {
                if weight.dtype == DType::F32 {
                    load::<S, f32, FULL>(s, weight.data.cast::<f32>().add(i), n)
                } else {
                    load::<S, T, FULL>(s, weight.data.cast::<T>().add(i), n)
                }
            };
            y = s.mul(y, weight);
        }
        if self.round { T::round(s, y) } else { y }
    }
}

/// Features of a head whose weight is widened beforehand: more than any model's.
const WIDE: usize = 512;

/// A weight in f32, widened once for all heads of a task rather than again for each.
pub(super) struct WideWeight {
    values: [f32; WIDE],
    filled: bool,
}

impl WideWeight {
    #[inline(always)]
    pub(super) fn new() -> Self {
        WideWeight { values: [0.0; WIDE], filled: false }
    }

    /// Takes over `width` columns, unless they are too many.
    ///
    /// # Safety
    /// - `columns` are valid to read, of T or f32.
    #[inline(always)]
    pub(super) unsafe fn fill<S: Simd, T: Elem>(&mut self, s: S, columns: Columns, width: usize) {
        if width > WIDE || columns.dtype == DType::F32 {
            return;
        }
        for i in (0..width).step_by(S::LANES) {
            let n = S::LANES.min(width - i);
            // SAFETY: the caller's clause, by the loop's bounds; there is room for `WIDE` values, a multiple of the lanes.
            unsafe {
                let v = load_some(s, columns.data.cast::<T>().add(i), n);
                s.store_f32::<false>(self.values.as_mut_ptr().add(i), v);
            }
        }
        self.filled = true;
    }

    /// The weight of `norm`, from here where it was taken over.
    #[inline(always)]
    pub(super) fn of(&self, norm: &HeadNorm) -> Option<Columns> {
        if self.filled { Some(Columns { data: self.values.as_ptr().cast(), dtype: DType::F32 }) } else { norm.weight }
    }
}

/// The sum of the squares of a head: in f32 over blocks, in f64 over the blocks.
///
/// # Safety
/// - `width` elements from `x` on are valid to read.
#[inline(always)]
pub(super) unsafe fn sum_of_squares<S: Simd, T: Elem>(s: S, x: *const T, width: usize) -> f64 {
    let (mut total, mut i) = (0.0, 0);
    while i < width {
        let end = width.min(i + BLOCK);
        // Two sums, so that additions need not wait for each other.
        let mut sums = [s.splat(0.0); 2];
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            while i + 2 * S::LANES <= end {
                let [a, b] = T::load_pair(s, x.add(i));
                sums = [s.fma(a, a, sums[0]), s.fma(b, b, sums[1])];
                i += 2 * S::LANES;
            }
            while i < end {
                let n = S::LANES.min(end - i);
                let v = load_some(s, x.add(i), n);
                sums[0] = s.fma(v, v, sums[0]);
                i += n;
            }
        }
        total += f64::from(s.sum(s.add(sums[0], sums[1])));
    }
    total
}
