// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sums that the mean and the variance of a row are made of.

use super::overlap::{Ahead, Look};
use crate::memory::prefetch_half;
use crate::simd::{Elem, Simd};

/// The sums of `x - centre` and of its square.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) sum: f64,
    pub(super) squares: f64,
}

/// A row seen from a centre.
pub(super) struct Moments<S: Simd, T> {
    pub(super) input: *const T,
    pub(super) centre: S::F32,
}

impl<S: Simd, T> Clone for Moments<S, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Simd, T> Copy for Moments<S, T> {}

impl<S: Simd, T: Elem> Look<S> for Moments<S, T> {
    /// Four of either, so that additions need not wait for each other.
    type Sums = [[S::F32; 4]; 2];
    type Total = Sums;

    #[inline(always)]
    fn none(&self, s: S) -> Self::Sums {
        [[s.splat(0.0); 4]; 2]
    }

    #[inline(always)]
    unsafe fn four(&self, s: S, i: usize, [mut sums, mut squares]: Self::Sums) -> Self::Sums {
        // SAFETY: the trait's clause.
        let (a, b) = unsafe { (T::load_pair(s, self.input.add(i)), T::load_pair(s, self.input.add(i + 2 * S::LANES))) };
        for (k, x) in [a[0], a[1], b[0], b[1]].into_iter().enumerate() {
            let d = s.sub(x, self.centre);
            sums[k] = s.add(sums[k], d);
            squares[k] = s.fma(d, d, squares[k]);
        }
        [sums, squares]
    }

    #[inline(always)]
    unsafe fn block(&self, s: S, (mut i, end): (usize, usize), sums: Self::Sums, total: Sums) -> Sums {
        let [mut sums, mut squares] = sums;
        // SAFETY: the trait's clause, by the loop's bound.
        unsafe {
            while i + S::LANES <= end {
                let d = s.sub(T::load(s, self.input.add(i)), self.centre);
                sums[0] = s.add(sums[0], d);
                squares[0] = s.fma(d, d, squares[0]);
                i += S::LANES;
            }
            if i < end {
                let d = s.sub(T::load_tail(s, self.input.add(i), end - i), self.centre);
                let d = s.first_lanes(d, end - i);
                sums[1] = s.add(sums[1], d);
                squares[1] = s.fma(d, d, squares[1]);
            }
        }
        Sums { sum: total.sum + f64::from(all(s, sums)), squares: total.squares + f64::from(all(s, squares)) }
    }

    #[inline(always)]
    fn fetch_half(&self, s: S, from: usize, i: usize) {
        prefetch_half(s, self.input.wrapping_add(from), i);
    }

    #[inline(always)]
    fn fetch(&self, s: S, i: usize, ahead: Ahead) {
        ahead.fetch_four(s, self.input.wrapping_add(i));
    }
}

/// The sum of all lanes of four vectors.
#[inline(always)]
fn all<S: Simd>(s: S, [a, b, c, d]: [S::F32; 4]) -> f32 {
    s.sum(s.add(s.add(a, b), s.add(c, d)))
}
