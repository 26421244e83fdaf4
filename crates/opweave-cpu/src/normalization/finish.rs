// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is done with a normalised value: nothing, or a multiplication by a weight.

use super::source::load;
use crate::simd::{Elem, Simd};

/// The step from a normalised value to the value that is stored.
///
/// Every method's clause: columns `i..i + n` (`n` = `S::LANES` if `FULL`) are within the row.
pub(super) trait Finish: Copy + Sync {
    /// The finished values of columns `i..i + n`. With `ROUND`, intermediate products are rounded to the activation's
    /// dtype.
    ///
    /// # Safety
    /// - See the trait.
    unsafe fn apply<S: Simd, const FULL: bool, const ROUND: bool>(&self, s: S, i: usize, n: usize, y: S::F32)
    -> S::F32;

    /// The same for one value in f64.
    ///
    /// # Safety
    /// - See the trait, with `n` = 1.
    unsafe fn value(&self, i: usize, y: f64, round: bool) -> f64;

    /// The same step from `column` on.
    ///
    /// # Safety
    /// - `column` is within the row or its end.
    unsafe fn at(self, column: usize) -> Self;
}

/// No weight.
#[derive(Clone, Copy)]
pub(super) struct Identity;

impl Finish for Identity {
    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool, const ROUND: bool>(
        &self,
        _: S,
        _: usize,
        _: usize,
        y: S::F32,
    ) -> S::F32 {
        y
    }

    #[inline(always)]
    unsafe fn value(&self, _: usize, y: f64, _: bool) -> f64 {
        y
    }

    #[inline(always)]
    unsafe fn at(self, _: usize) -> Self {
        self
    }
}

/// Times `offset + w`, formed in f32.
#[derive(Clone, Copy)]
pub(super) struct Weight<W> {
    pub(super) weight: *const W,
    /// 1 for Gemma's scale. For a plain weight -0, which added to anything, zeros of either sign included, changes nothing.
    pub(super) offset: f32,
}

// SAFETY: inert data; reading through it is the trait's unsafe operations, whose callers answer for races.
unsafe impl<W: Elem> Sync for Weight<W> {}

impl<W: Elem> Finish for Weight<W> {
    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool, const ROUND: bool>(
        &self,
        s: S,
        i: usize,
        n: usize,
        y: S::F32,
    ) -> S::F32 {
        // SAFETY: the trait's clause.
        let w = unsafe { load::<S, W, FULL>(s, self.weight.add(i), n) };
        s.mul(y, s.add(s.splat(self.offset), w))
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, _: bool) -> f64 {
        // SAFETY: the trait's clause.
        let w = unsafe { self.weight.add(i).read() }.to_f64() as f32;
        y * f64::from(self.offset + w)
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        Weight { weight: unsafe { self.weight.add(column) }, ..self }
    }
}
