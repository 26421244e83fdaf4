// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is normalised: a row as it stands, or the sum of two.

use super::overlap::Ahead;
use crate::memory::{load, prefetch_half, store};
use crate::simd::{Elem, Simd};

/// The values of one row before they are normalised. Lanes past the row read as zero.
///
/// Every method's clause: columns `i..i + n` (`n` = `S::LANES` if `FULL`) are within the row.
pub(super) trait Source: Copy {
    /// Whether values are products, which f32 rounds coarsely, or to zero, where they are below its normal range.
    const PRODUCT: bool = false;
    /// Whether [`Source::keep`] does anything.
    const KEEPS: bool = false;

    /// The values at `i..i + n`.
    ///
    /// # Safety
    /// - See the trait.
    unsafe fn load<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize) -> S::F32;

    /// The values of two vectors from column `i` on, in the pair order of the row's type.
    ///
    /// # Safety
    /// - Twice `S::LANES` columns from `i` on are within the row.
    unsafe fn load_pair<S: Simd>(&self, s: S, i: usize) -> [S::F32; 2];

    /// [`Source::keep`] for what [`Source::load_pair`] gave.
    ///
    /// # Safety
    /// - Twice `S::LANES` columns from `i` on are within the row.
    #[inline(always)]
    unsafe fn keep_pair<S: Simd>(&self, _s: S, _i: usize, _v: [S::F32; 2]) {}

    /// Stores what the operator keeps of `v`, which [`Source::load`] gave for the same columns and which was not kept yet.
    ///
    /// # Safety
    /// - See the trait.
    #[inline(always)]
    unsafe fn keep<S: Simd, const FULL: bool>(&self, _s: S, _i: usize, _n: usize, _v: S::F32) {}

    /// The value at `i` in f64.
    ///
    /// # Safety
    /// - See the trait, with `n` = 1.
    unsafe fn value(&self, i: usize) -> f64;

    /// [`Source::keep`] for one value.
    ///
    /// # Safety
    /// - See the trait, with `n` = 1.
    #[inline(always)]
    unsafe fn keep_value(&self, _i: usize, _v: f64) {}

    /// The same row from `column` on.
    ///
    /// # Safety
    /// - `column` is within the row or its end.
    unsafe fn at(self, column: usize) -> Self;

    /// [`prefetch_half`] of what is read, from column `from` on.
    fn prefetch_half<S: Simd>(&self, s: S, from: usize, i: usize);

    /// Asks for what is read for four vectors from column `i` on, `ahead` of it.
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead);
}

/// A row as it stands.
#[derive(Clone, Copy)]
pub(super) struct Plain<T>(pub(super) *const T);

impl<T: Elem> Source for Plain<T> {
    #[inline(always)]
    unsafe fn load<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize) -> S::F32 {
        // SAFETY: the trait's clause.
        unsafe { load::<S, T, FULL>(s, self.0.add(i), n) }
    }

    #[inline(always)]
    unsafe fn load_pair<S: Simd>(&self, s: S, i: usize) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        unsafe { T::load_pair(s, self.0.add(i)) }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize) -> f64 {
        // SAFETY: the trait's clause.
        unsafe { self.0.add(i).read().to_f64() }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        Plain(unsafe { self.0.add(column) })
    }

    #[inline(always)]
    fn prefetch_half<S: Simd>(&self, s: S, from: usize, i: usize) {
        prefetch_half(s, self.0.wrapping_add(from), i);
    }

    #[inline(always)]
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead) {
        ahead.fetch_four(s, self.0.wrapping_add(i));
    }
}

/// A source that keeps nothing: for a look at values that are formed again later.
#[derive(Clone, Copy)]
pub(super) struct Unkept<Src>(pub(super) Src);

impl<Src: Source> Source for Unkept<Src> {
    const PRODUCT: bool = Src::PRODUCT;

    #[inline(always)]
    unsafe fn load<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize) -> S::F32 {
        // SAFETY: the trait's clause.
        unsafe { self.0.load::<S, FULL>(s, i, n) }
    }

    #[inline(always)]
    unsafe fn load_pair<S: Simd>(&self, s: S, i: usize) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        unsafe { self.0.load_pair(s, i) }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize) -> f64 {
        // SAFETY: the trait's clause.
        unsafe { self.0.value(i) }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        Unkept(unsafe { self.0.at(column) })
    }

    #[inline(always)]
    fn prefetch_half<S: Simd>(&self, s: S, from: usize, i: usize) {
        self.0.prefetch_half(s, from, i);
    }

    #[inline(always)]
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead) {
        self.0.fetch(s, i, ahead);
    }
}

/// `input + residual`. The sum, rounded to T, is kept in `residual`.
///
/// The residual is written in the second pass, after the last read of the old value: the unrounded sum is then still to be
/// had, and both rounding modes share this code.
#[derive(Clone, Copy)]
pub(super) struct Sum<T> {
    pub(super) input: *const T,
    pub(super) residual: *mut T,
    /// Whether the norm is of the rounded sum.
    pub(super) rounded: bool,
}

impl<T: Elem> Source for Sum<T> {
    const KEEPS: bool = true;

    #[inline(always)]
    unsafe fn load<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize) -> S::F32 {
        // SAFETY: the trait's clause.
        let (a, b) =
            unsafe { (load::<S, T, FULL>(s, self.input.add(i), n), load::<S, T, FULL>(s, self.residual.add(i), n)) };
        let sum = s.add(a, b);
        if T::NARROW && self.rounded { T::round(s, sum) } else { sum }
    }

    #[inline(always)]
    unsafe fn load_pair<S: Simd>(&self, s: S, i: usize) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        let (a, b) = unsafe { (T::load_pair(s, self.input.add(i)), T::load_pair(s, self.residual.add(i))) };
        let sum = [s.add(a[0], b[0]), s.add(a[1], b[1])];
        if T::NARROW && self.rounded { T::round_pair(s, sum) } else { sum }
    }

    #[inline(always)]
    unsafe fn keep_pair<S: Simd>(&self, s: S, i: usize, v: [S::F32; 2]) {
        // SAFETY: the trait's clause.
        unsafe { T::store_pair::<S, false>(s, self.residual.add(i), v) }
    }

    #[inline(always)]
    unsafe fn keep<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, v: S::F32) {
        // SAFETY: the trait's clause.
        unsafe { store::<S, T, FULL>(s, self.residual.add(i), n, v, false) }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize) -> f64 {
        // SAFETY: the trait's clause.
        let sum = unsafe { self.input.add(i).read().to_f64() + self.residual.add(i).read().to_f64() };
        if self.rounded { T::from_f64(sum).to_f64() } else { sum }
    }

    #[inline(always)]
    unsafe fn keep_value(&self, i: usize, v: f64) {
        // SAFETY: the trait's clause.
        unsafe { self.residual.add(i).write(T::from_f64(v)) }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Sum { input: self.input.add(column), residual: self.residual.add(column), ..self } }
    }

    #[inline(always)]
    fn prefetch_half<S: Simd>(&self, s: S, from: usize, i: usize) {
        prefetch_half(s, self.input.wrapping_add(from), i);
        prefetch_half(s, self.residual.wrapping_add(from).cast_const(), i);
    }

    #[inline(always)]
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead) {
        ahead.fetch_four(s, self.input.wrapping_add(i));
        ahead.fetch_four(s, self.residual.wrapping_add(i).cast_const());
    }
}
