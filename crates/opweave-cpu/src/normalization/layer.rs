// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Layer normalization, in f32, for rows far from zero as well.
//!
//! The variance of 10000, 10001, … cannot be had from sums of squares, and a mean of such numbers in f32 is itself off by
//! a good part of a unit. So nothing is ever summed that is not near zero: the first pass sums `x - x[0]` and gives a
//! provisional centre `m`; the second sums `d = x - m` and `d^2`. The mean of `d` corrects the centre, and the variance is
//! `mean(d^2) - mean(d)^2` with a correction that is small beside it.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::exact::centred_row;
use super::finish::Finish;
use super::source::{Plain, load, store};
use super::{CACHE_LINE, Columns, TRUSTED_FROM, streams};
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Elem, Isa, Simd};

/// One call: `out = (input - mean) / sqrt(variance + eps) * weight + bias` for each row.
///
/// `out` may be `input` itself, with the same strides; apart from that the tensors do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct LayerCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row; 0 is legal.
    pub width: usize,
    /// The dtype of input and output: f32, f16 or bf16.
    pub dtype: DType,
    /// What is normalised.
    pub input: Rows,
    /// The result.
    pub out: Rows,
    /// The weight; ones when absent.
    pub weight: Option<Columns>,
    /// The bias; zeros when absent.
    pub bias: Option<Columns>,
    /// Added to the variance.
    pub eps: f64,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of every tensor, and `width` columns of weight and bias, lie in memory that is valid for the reads and writes
///   that [`LayerCall`] describes, aligned to their elements, of the stated dtypes (dtype: f32, f16 or bf16; weight and
///   bias: the same or f32).
/// - No two tensors overlap, except that `out` may be `input`.
/// - Nobody else accesses them until this returns.
pub unsafe fn layer_norm(isa: Isa, pool: &dyn Parallel, call: &LayerCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => with::<f32, f32, f32>(isa, pool, call),
            DType::F16 => by_parameters::<f16>(isa, pool, call),
            DType::BF16 => by_parameters::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`layer_norm`]; `T` is the call's dtype.
unsafe fn by_parameters<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &LayerCall) {
    let same = |columns: Option<Columns>| columns.is_none_or(|c| c.dtype == T::DTYPE);
    // SAFETY: the caller's clauses; types of parameters that are absent do not matter.
    unsafe {
        match (same(call.weight), same(call.bias)) {
            (true, true) => with::<T, T, T>(isa, pool, call),
            (true, false) => with::<T, T, f32>(isa, pool, call),
            (false, true) => with::<T, f32, T>(isa, pool, call),
            (false, false) => with::<T, f32, f32>(isa, pool, call),
        }
    }
}

/// # Safety
/// - As for [`layer_norm`]; `T`, `W` and `B` are the types of activation, weight and bias.
unsafe fn with<T: Elem, W: Elem, B: Elem>(isa: Isa, pool: &dyn Parallel, call: &LayerCall) {
    let &LayerCall { rows, width, input, out, eps, .. } = call;
    let affine = Affine::<W, B> { weight: call.weight.map(|w| w.data.cast()), bias: call.bias.map(|b| b.data.cast()) };
    let stream = streams(rows, width, T::DTYPE, out, &[input]);
    let kernel = Centred::<T, _> { input, out, width, affine, eps, stream, dtype: PhantomData };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, 2 * width * size_of::<T>()) }
}

/// Times weight, plus bias. Which are there is the same for all columns, so the branches are foreseen.
#[derive(Clone, Copy)]
struct Affine<W, B> {
    weight: Option<*const W>,
    bias: Option<*const B>,
}

// SAFETY: inert data; reading through it is the trait's unsafe operations, whose callers answer for races.
unsafe impl<W: Elem, B: Elem> Sync for Affine<W, B> {}

impl<W: Elem, B: Elem> Finish for Affine<W, B> {
    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool, const ROUND: bool>(
        &self,
        s: S,
        i: usize,
        n: usize,
        y: S::F32,
    ) -> S::F32 {
        // SAFETY: the trait's clause.
        unsafe {
            let weight = self.weight.map(|w| load::<S, W, FULL>(s, w.add(i), n));
            let bias = self.bias.map(|b| load::<S, B, FULL>(s, b.add(i), n));
            match (weight, bias) {
                (Some(w), Some(b)) => s.fma(y, w, b),
                (Some(w), None) => s.mul(y, w),
                (None, Some(b)) => s.add(y, b),
                (None, None) => y,
            }
        }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, _: bool) -> f64 {
        // SAFETY: the trait's clause.
        unsafe {
            let y = self.weight.map_or(y, |w| y * w.add(i).read().to_f64());
            self.bias.map_or(y, |b| y + b.add(i).read().to_f64())
        }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Affine { weight: self.weight.map(|w| w.add(column)), bias: self.bias.map(|b| b.add(column)) } }
    }
}

struct Centred<T, F> {
    input: Rows,
    out: Rows,
    width: usize,
    affine: F,
    eps: f64,
    stream: bool,
    dtype: PhantomData<fn(T)>,
}

impl<T: Elem, F: Finish> RowKernel for Centred<T, F> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        for row in rows.clone() {
            let next = if row + 1 < rows.end { row + 1 } else { row };
            // SAFETY: both are rows of the call.
            unsafe {
                let (input, next) = (self.input.row::<T>(row), self.input.row::<T>(next));
                self.row(s, input, self.out.row::<T>(row), next);
            }
        }
        if self.stream {
            s.fence();
        }
    }
}

/// How a row is brought to mean 0 and variance 1: `(x - centre) * inverse + shift`.
#[derive(Clone, Copy)]
struct Centre {
    centre: f32,
    inverse: f32,
    shift: f32,
}

impl<T: Elem, F: Finish> Centred<T, F> {
    /// # Safety
    /// - `self.width` columns are valid in `input`, `out` and the parameters; if `self.stream`, a fence follows.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, input: *const T, out: *mut T, next: *const T) {
        // SAFETY: the caller's clauses; streamed only where a vector's alignment is given.
        unsafe {
            let Some(centre) = self.centre(s, input) else {
                return centred_row(Plain(input), self.affine, out, self.width, self.eps);
            };
            if self.stream && (out as usize).is_multiple_of(S::LANES * size_of::<T>()) {
                self.scale::<S, true>(s, input, out, centre, next);
            } else {
                self.scale::<S, false>(s, input, out, centre, next);
            }
        }
    }

    /// The first two passes; `None` when the row needs f64.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn centre<S: Simd>(&self, s: S, input: *const T) -> Option<Centre> {
        let n = self.width as f64;
        // SAFETY: the caller's clause; no row is empty, for a width of 0 is not admitted with rows.
        let first = unsafe { input.read() }.to_f64() as f32;
        // SAFETY: the caller's clause.
        let (offset, _) = unsafe { self.moments(s, input, first) };
        let centre = (f64::from(first) + f64::from(offset) / n) as f32;
        // SAFETY: the caller's clause.
        let (rest, squares) = unsafe { self.moments(s, input, centre) };
        let (rest, squares) = (f64::from(rest) / n, f64::from(squares) / n);
        let variance = squares - rest * rest;
        // A correction that is not small would cancel; it takes sums that went wrong to get there.
        let trusted = squares.is_finite() && rest * rest <= 0.5 * squares && variance + self.eps >= TRUSTED_FROM;
        trusted.then(|| {
            let inverse = 1.0 / (variance + self.eps).sqrt();
            Centre { centre, inverse: inverse as f32, shift: (-rest * inverse) as f32 }
        })
    }

    /// The sums of `x - centre` and of its square, in four vectors each.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn moments<S: Simd>(&self, s: S, input: *const T, centre: f32) -> (f32, f32) {
        let width = self.width;
        let centre = s.splat(centre);
        let (mut sums, mut squares) = ([s.splat(0.0); 4], [s.splat(0.0); 4]);
        let mut i = 0;
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            while i + 4 * S::LANES <= width {
                for k in 0..4 {
                    let d = s.sub(T::load(s, input.add(i + k * S::LANES)), centre);
                    sums[k] = s.add(sums[k], d);
                    squares[k] = s.fma(d, d, squares[k]);
                }
                i += 4 * S::LANES;
            }
            while i + S::LANES <= width {
                let d = s.sub(T::load(s, input.add(i)), centre);
                sums[0] = s.add(sums[0], d);
                squares[0] = s.fma(d, d, squares[0]);
                i += S::LANES;
            }
            if i < width {
                let d = s.sub(T::load_tail(s, input.add(i), width - i), centre);
                let d = s.first_lanes(d, width - i);
                sums[1] = s.add(sums[1], d);
                squares[1] = s.fma(d, d, squares[1]);
            }
        }
        let total = |v: [S::F32; 4]| s.sum(s.add(s.add(v[0], v[1]), s.add(v[2], v[3])));
        (total(sums), total(squares))
    }

    /// The last pass. While a row is written past the caches, the next one is fetched.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`, `out` and the parameters.
    /// - With `STREAM`, `out` is aligned to a vector, and a fence follows.
    #[inline(always)]
    unsafe fn scale<S: Simd, const STREAM: bool>(&self, s: S, input: *const T, out: *mut T, c: Centre, next: *const T) {
        let (centre, inverse, shift) = (s.splat(c.centre), s.splat(c.inverse), s.splat(c.shift));
        let normalise = |x| s.fma(s.sub(x, centre), inverse, shift);
        let width = self.width;
        let mut i = 0;
        // SAFETY: the caller's clauses, by the loop's bounds. Every column is read before it is written.
        unsafe {
            while i + S::LANES <= width {
                if STREAM && (i * size_of::<T>()).is_multiple_of(CACHE_LINE) {
                    s.prefetch(next.wrapping_add(i).cast());
                }
                let y = normalise(T::load(s, input.add(i)));
                let y = self.affine.apply::<S, true, false>(s, i, S::LANES, y);
                store::<S, T, true, STREAM>(s, out.add(i), S::LANES, y);
                i += S::LANES;
            }
            if i < width {
                let n = width - i;
                let y = normalise(T::load_tail(s, input.add(i), n));
                let y = self.affine.apply::<S, false, false>(s, i, n, y);
                T::store_tail(s, out.add(i), n, y);
            }
        }
    }
}
