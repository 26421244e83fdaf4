// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Layer normalization, in f32, for rows far from zero as well.
//!
//! The variance of 10000, 10001, … cannot be had from sums of squares, and a mean of such numbers in f32 is itself off by
//! a good part of a unit. So nothing is ever summed that is not near zero: the mean of the first columns gives a provisional
//! centre `m`, and one pass sums `d = x - m` and `d^2`. The mean of `d` corrects the centre, and the variance is
//! `mean(d^2) - mean(d)^2`, provided that the correction is small beside it. Where it is not, because the row begins unlike
//! the rest of it, a second pass goes around the mean that the first one found. Which of the two a row takes depends on its
//! own values alone.

use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::affine::{Affine, Affined, Centre};
use super::exact::centred_row;
use super::finish::{Finish, Kind, Parameters};
use super::moments::{Moments, Sums};
use super::overlap::{Ahead, pays, total, write, write_and_total};
use super::room::Room;
use super::source::Plain;
use super::{Columns, TRUSTED_FROM};
use crate::memory::{exceeds_caches, is_vector_aligned, streams};
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
            DType::F32 => typed::<f32>(isa, pool, call),
            DType::F16 => typed::<f16>(isa, pool, call),
            DType::BF16 => typed::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`layer_norm`]; `T` is the call's dtype.
unsafe fn typed<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &LayerCall) {
    let &LayerCall { rows, width, input, out, eps, .. } = call;
    let affine = Affine::<T> { weight: Parameters::new(call.weight), bias: Parameters::new(call.bias) };
    let stream = streams(rows, width * size_of::<T>(), out, &[input]);
    let ahead = exceeds_caches(rows, width * size_of::<T>());
    let distance = Ahead::of(width, &[input]);
    let kernel = Centred::<T> { input, out, width, affine, eps, ahead, stream, distance };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, 2 * width * size_of::<T>()) }
}

/// Columns whose mean is the provisional centre: its distance from that of a row of like columns is a tenth of their
/// deviation.
const CENTRE_COLUMNS: usize = 128;

/// The largest part of the mean square that the correction may take away; it costs less than half a bit of the variance.
const LARGEST_CORRECTION: f64 = 0.25;

struct Centred<T> {
    input: Rows,
    out: Rows,
    width: usize,
    affine: Affine<T>,
    eps: f64,
    /// Whether the next row is fetched while one is worked on.
    ahead: bool,
    stream: bool,
    /// How far ahead memory is asked for while one row is written and the next one is looked at.
    distance: Ahead,
}

impl<T: Elem> RowKernel for Centred<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let mut room = Room::new();
        // SAFETY: the trait's clause: the parameters have as many columns, for which there is room.
        let wide = Room::is_worth::<T>(&rows, self.width) && unsafe { self.affine.widen(s, &mut room, self.width) };
        let affine = if wide { self.affine.widened(&room) } else { self.affine };
        // The centre of the coming row and the sums around it, where they were taken while the one before it was written.
        let mut found = None;
        for row in rows.clone() {
            // SAFETY: all are rows of the call.
            unsafe {
                let (input, out) = (self.input.row::<T>(row).cast_const(), self.out.row::<T>(row));
                let later = if row + 1 < rows.end { Some(self.input.row::<T>(row + 1).cast_const()) } else { None };
                found = self.row(s, (input, out), affine, found, later);
            }
        }
        if self.stream {
            s.fence();
        }
    }
}

/// A provisional centre, and the sums of `x - centre` and of its square.
type Around = (f32, Sums);

impl<T: Elem> Centred<T> {
    /// Normalises the row that `found` is of, if there is one. The answer is that of `later`, if it was found meanwhile.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`, `out`, the parameters, and `later`; if `self.stream`, a fence follows.
    #[inline(always)]
    unsafe fn row<S: Simd>(
        &self,
        s: S,
        (input, out): (*const T, *mut T),
        affine: Affine<T>,
        found: Option<Around>,
        later: Option<*const T>,
    ) -> Option<Around> {
        // SAFETY: the caller's clauses; streamed only where a vector's alignment is given.
        unsafe {
            let next = later.filter(|_| self.ahead);
            let Some(centre) = self.centre(s, input, found, next) else {
                centred_row(Plain(input), affine, out, self.width, self.eps);
                return None;
            };
            let stream = self.stream && is_vector_aligned::<S, T>(out);
            let row = Affined { input, out, centre, affine, stream };
            let known = |kind| Affined { affine: affine.known(kind), ..row };
            match affine.kind() {
                Kind::Same if S::SPECIALISE => self.write(s, known(Kind::Same), later),
                Kind::Wide if S::SPECIALISE => self.write(s, known(Kind::Wide), later),
                _ => self.write(s, row, later),
            }
        }
    }

    /// Writes a row, and where it is streamed finds the centre and the sums of a later one meanwhile.
    ///
    /// # Safety
    /// - As for [`Self::row`].
    #[inline(always)]
    unsafe fn write<S: Simd>(&self, s: S, row: Affined<T>, later: Option<*const T>) -> Option<Around> {
        // SAFETY: the caller's clauses.
        unsafe {
            if const { pays::<S, T>() } && row.stream {
                // At the end there is nothing to look at but the same columns.
                let input = later.unwrap_or(row.input);
                let centre = self.provisional(s, input);
                let look = Moments { input, centre: s.splat(centre) };
                let row = Affined { stream: true, ..row };
                return Some((centre, write_and_total(s, row, look, self.width, self.distance)));
            }
            let next = match later {
                Some(input) if self.ahead => Some(Moments { input, centre: s.splat(0.0) }),
                _ => None,
            };
            // What is streamed has taken the loop for both where there is one.
            let stream = const { S::STREAMS && !pays::<S, T>() } && row.stream;
            write(s, Affined { stream, ..row }, self.width, next);
        }
        None
    }

    /// The mean of the first columns.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`; no row is empty, for a width of 0 is not admitted with rows.
    #[inline(always)]
    unsafe fn provisional<S: Simd>(&self, s: S, input: *const T) -> f32 {
        // SAFETY: the caller's clause.
        unsafe {
            let first = input.read().to_f64() as f32;
            let n = self.width.min(CENTRE_COLUMNS);
            let Sums { sum, .. } = total(s, Moments { input, centre: s.splat(first) }, n, None);
            first + sum as f32 / n as f32
        }
    }

    /// The first pass, if it was not `found` already, and a second one where it has to be; `None` when the row needs f64.
    /// Meanwhile the first half of `next` is fetched.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn centre<S: Simd>(
        &self,
        s: S,
        input: *const T,
        found: Option<Around>,
        next: Option<*const T>,
    ) -> Option<Centre> {
        // SAFETY: the caller's clause.
        unsafe {
            let (mut centre, mut sums) = match found {
                Some((centre, sums)) => (centre, Some(sums)),
                None => (self.provisional(s, input), None),
            };
            // Twice at most: the second centre is the mean itself.
            for _ in 0..2 {
                let around = match sums.take() {
                    Some(sums) => sums,
                    None => self.sums(s, input, centre, next),
                };
                if let Some(centre) = self.settle(centre, around) {
                    return Some(centre);
                }
                centre = (f64::from(centre) + around.sum / self.width as f64) as f32;
            }
        }
        None
    }

    /// The sums around `centre` by a pass of their own.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn sums<S: Simd>(&self, s: S, input: *const T, centre: f32, next: Option<*const T>) -> Sums {
        let centre = s.splat(centre);
        let next = match next {
            Some(input) => Some(Moments { input, centre }),
            None => None,
        };
        // SAFETY: the caller's clause.
        unsafe { total(s, Moments { input, centre }, self.width, next) }
    }

    /// The row's scale from the sums around `centre`; `None` where that was too far from the mean, or f32 cannot do it.
    #[inline(always)]
    fn settle(&self, centre: f32, Sums { sum, squares }: Sums) -> Option<Centre> {
        let n = self.width as f64;
        let (rest, squares) = (sum / n, squares / n);
        let variance = squares - rest * rest;
        // A correction that is not small would cancel.
        let near = squares.is_finite() && rest * rest <= LARGEST_CORRECTION * squares;
        (near && variance + self.eps >= TRUSTED_FROM).then(|| {
            let inverse = 1.0 / (variance + self.eps).sqrt();
            Centre { centre, inverse: inverse as f32, shift: (-rest * inverse) as f32 }
        })
    }
}
