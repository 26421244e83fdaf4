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

use super::exact::centred_row;
use super::finish::{Finish, Kind, Parameters};
use super::room::Room;
use super::source::Plain;
use super::{Columns, SUM_BLOCK, TRUSTED_FROM};
use crate::memory::{exceeds_caches, is_vector_aligned, prefetch_half, store, store_two, streams};
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
    let kernel = Centred::<T> { input, out, width, affine, eps, ahead, stream };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, 2 * width * size_of::<T>()) }
}

/// Times weight, plus bias.
#[derive(Clone, Copy)]
struct Affine<T> {
    weight: Parameters<T>,
    bias: Parameters<T>,
}

impl<T: Elem> Finish for Affine<T> {
    const HAS_KINDS: bool = true;

    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, y: S::F32, _: bool) -> S::F32 {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.load::<S, FULL>(s, i, n), self.bias.load::<S, FULL>(s, i, n)) };
        match (weight, bias) {
            (Some(w), Some(b)) => s.fma(y, w, b),
            (Some(w), None) => s.mul(y, w),
            (None, Some(b)) => s.add(y, b),
            (None, None) => y,
        }
    }

    #[inline(always)]
    unsafe fn apply_pair<S: Simd>(&self, s: S, i: usize, y: [S::F32; 2], _: bool) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.load_pair(s, i), self.bias.load_pair(s, i)) };
        match (weight, bias) {
            (Some(w), Some(b)) => [s.fma(y[0], w[0], b[0]), s.fma(y[1], w[1], b[1])],
            (Some(w), None) => [s.mul(y[0], w[0]), s.mul(y[1], w[1])],
            (None, Some(b)) => [s.add(y[0], b[0]), s.add(y[1], b[1])],
            (None, None) => y,
        }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, _: bool) -> f64 {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.value(i), self.bias.value(i)) };
        let y = weight.map_or(y, |w| y * w);
        bias.map_or(y, |b| y + b)
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        match (self.weight, self.bias) {
            (Parameters::Same(_), Parameters::Same(_)) => Kind::Same,
            (Parameters::Single(_), Parameters::Single(_)) => Kind::Wide,
            _ => Kind::General,
        }
    }

    #[inline(always)]
    fn known(self, kind: Kind) -> Self {
        match kind {
            Kind::Same => Affine { weight: self.weight.known_same(), bias: self.bias.known_same() },
            Kind::Wide => Affine { weight: self.weight.known_single(), bias: self.bias.known_single() },
            _ => self,
        }
    }

    #[inline(always)]
    unsafe fn widen<S: Simd>(&self, s: S, room: &mut Room, width: usize) -> bool {
        // SAFETY: the trait's clause.
        unsafe {
            self.weight.widen(s, room.first_mut(), width, false) && self.bias.widen(s, room.second_mut(), width, false)
        }
    }

    #[inline(always)]
    fn widened(self, room: &Room) -> Self {
        Affine { weight: Parameters::Single(room.first()), bias: Parameters::Single(room.second()) }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Affine { weight: self.weight.at(column), bias: self.bias.at(column) } }
    }
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
}

impl<T: Elem> RowKernel for Centred<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let mut room = Room::new();
        // SAFETY: the trait's clause: the parameters have as many columns, for which there is room.
        let wide = Room::is_worth::<T>(&rows, self.width) && unsafe { self.affine.widen(s, &mut room, self.width) };
        let affine = if wide { self.affine.widened(&room) } else { self.affine };
        for row in rows.clone() {
            let next = self.ahead && row + 1 < rows.end;
            // SAFETY: both are rows of the call.
            unsafe {
                let next = if next { Some(self.input.row::<T>(row + 1).cast_const()) } else { None };
                self.row(s, self.input.row::<T>(row), self.out.row::<T>(row), affine, next);
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

impl Centre {
    #[inline(always)]
    fn normalise<S: Simd>(self, s: S, x: S::F32) -> S::F32 {
        s.fma(s.sub(x, s.splat(self.centre)), s.splat(self.inverse), s.splat(self.shift))
    }
}

impl<T: Elem> Centred<T> {
    /// # Safety
    /// - `self.width` columns are valid in `input`, `out` and the parameters; if `self.stream`, a fence follows.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, input: *const T, out: *mut T, affine: Affine<T>, next: Option<*const T>) {
        // SAFETY: the caller's clauses; streamed only where a vector's alignment is given.
        unsafe {
            let Some(centre) = self.centre(s, input, next) else {
                return centred_row(Plain(input), affine, out, self.width, self.eps);
            };
            let stream = self.stream && is_vector_aligned::<S, T>(out);
            match affine.kind() {
                Kind::Same if S::SPECIALISE => {
                    self.scale(s, input, out, centre, affine.known(Kind::Same), next, stream);
                }
                Kind::Wide if S::SPECIALISE => {
                    self.scale(s, input, out, centre, affine.known(Kind::Wide), next, stream);
                }
                _ => self.scale(s, input, out, centre, affine, next, stream),
            }
        }
    }

    /// The first pass, and a second one where it has to be; `None` when the row needs f64. Meanwhile the first half of `next`
    /// is fetched.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn centre<S: Simd>(&self, s: S, input: *const T, next: Option<*const T>) -> Option<Centre> {
        // SAFETY: the caller's clause; no row is empty, for a width of 0 is not admitted with rows.
        unsafe {
            let first = input.read().to_f64() as f32;
            let n = self.width.min(CENTRE_COLUMNS);
            let (offset, _) = Self::block_of_moments(s, input, n, s.splat(first), None);
            let mut centre = first + offset / n as f32;
            // Twice at most: the second centre is the mean itself.
            for _ in 0..2 {
                let moments = self.moments(s, input, centre, next);
                if let Some(centre) = self.settle(centre, moments) {
                    return Some(centre);
                }
                centre = (f64::from(centre) + moments.0 / self.width as f64) as f32;
            }
        }
        None
    }

    /// The row's scale from the sums around `centre`; `None` where that was too far from the mean, or f32 cannot do it.
    #[inline(always)]
    fn settle(&self, centre: f32, (sum, squares): (f64, f64)) -> Option<Centre> {
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

    /// The sums of `x - centre` and of its square: block by block in f32, the blocks in f64.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`.
    #[inline(always)]
    unsafe fn moments<S: Simd>(&self, s: S, input: *const T, centre: f32, next: Option<*const T>) -> (f64, f64) {
        let (mut sum, mut squares, mut i) = (0.0, 0.0, 0);
        while i < self.width {
            let end = self.width.min(i + SUM_BLOCK);
            // SAFETY: the caller's clause: `i..end` is within the row.
            let block = unsafe {
                // Blocks are whole lines, so half of one is.
                let next = next.map(|next| next.wrapping_add(i / 2));
                Self::block_of_moments(s, input.add(i), end - i, s.splat(centre), next)
            };
            sum += f64::from(block.0);
            squares += f64::from(block.1);
            i = end;
        }
        (sum, squares)
    }

    /// The same for `n` columns, in four vectors each.
    ///
    /// # Safety
    /// - `n` columns are valid in `input`.
    #[inline(always)]
    unsafe fn block_of_moments<S: Simd>(
        s: S,
        input: *const T,
        n: usize,
        centre: S::F32,
        next: Option<*const T>,
    ) -> (f32, f32) {
        let (mut sums, mut squares) = ([s.splat(0.0); 4], [s.splat(0.0); 4]);
        let mut i = 0;
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            while i + 4 * S::LANES <= n {
                if let Some(next) = next {
                    prefetch_half(s, next, i);
                    prefetch_half(s, next, i + 2 * S::LANES);
                }
                let (a, b) = (T::load_pair(s, input.add(i)), T::load_pair(s, input.add(i + 2 * S::LANES)));
                for (k, x) in [a[0], a[1], b[0], b[1]].into_iter().enumerate() {
                    let d = s.sub(x, centre);
                    sums[k] = s.add(sums[k], d);
                    squares[k] = s.fma(d, d, squares[k]);
                }
                i += 4 * S::LANES;
            }
            while i + S::LANES <= n {
                let d = s.sub(T::load(s, input.add(i)), centre);
                sums[0] = s.add(sums[0], d);
                squares[0] = s.fma(d, d, squares[0]);
                i += S::LANES;
            }
            if i < n {
                let d = s.sub(T::load_tail(s, input.add(i), n - i), centre);
                let d = s.first_lanes(d, n - i);
                sums[1] = s.add(sums[1], d);
                squares[1] = s.fma(d, d, squares[1]);
            }
        }
        (total(s, sums), total(s, squares))
    }

    /// The last pass. Meanwhile the second half of `next` is fetched.
    ///
    /// # Safety
    /// - `self.width` columns are valid in `input`, `out` and the parameters.
    /// - With `stream`, `out` is aligned to a vector, and a fence follows.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the pointers of one row and how to treat it")]
    unsafe fn scale<S: Simd>(
        &self,
        s: S,
        input: *const T,
        out: *mut T,
        c: Centre,
        affine: Affine<T>,
        next: Option<*const T>,
        stream: bool,
    ) {
        let width = self.width;
        let mut i = 0;
        // SAFETY: the caller's clauses, by the loop's bounds. Every column is read before it is written.
        unsafe {
            while i + 2 * S::LANES <= width {
                if let Some(next) = next {
                    prefetch_half(s, next.wrapping_add(width / 2), i);
                }
                let x = T::load_pair(s, input.add(i));
                let y = [c.normalise(s, x[0]), c.normalise(s, x[1])];
                store_two(s, out.add(i), affine.apply_pair(s, i, y, false), stream);
                i += 2 * S::LANES;
            }
            if i + S::LANES <= width {
                let y = c.normalise(s, T::load(s, input.add(i)));
                let y = affine.apply::<S, true>(s, i, S::LANES, y, false);
                store::<S, T, true>(s, out.add(i), S::LANES, y, stream);
                i += S::LANES;
            }
            if i < width {
                let n = width - i;
                let y = c.normalise(s, T::load_tail(s, input.add(i), n));
                let y = affine.apply::<S, false>(s, i, n, y, false);
                T::store_tail(s, out.add(i), n, y);
            }
        }
    }
}

/// The sum of all lanes of four vectors.
#[inline(always)]
fn total<S: Simd>(s: S, [a, b, c, d]: [S::F32; 4]) -> f32 {
    s.sum(s.add(s.add(a, b), s.add(c, d)))
}
