// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows divided by their root mean square, or by their norm: `rms_norm`, `gemma_rms_norm`, the fused additions, `l2_norm`.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::exact::scaled_row;
use super::finish::{Finish, Kind, Weight};
use super::room::Room;
use super::source::{Plain, Source, Sum};
use super::{Columns, SUM_BLOCK, TRUSTED_FROM};
use crate::memory::{exceeds_caches, is_vector_aligned, store, store_two, streams};
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Elem, Isa, Simd};

/// What a row is divided by, from the sum of its squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// `sqrt(mean + eps)`.
    RootMeanSquare {
        /// Added to the mean.
        eps: f64,
    },
    /// `sqrt(sum + eps)`.
    RootSum {
        /// Added to the sum.
        eps: f64,
    },
    /// `max(sqrt(sum), eps)`; NaN if the sum is.
    LargerOfNorm {
        /// The least divisor.
        eps: f64,
    },
}

impl Statistic {
    /// The divisor.
    #[inline(always)]
    pub(crate) fn divisor(self, sum: f64, width: usize) -> f64 {
        match self {
            Statistic::RootMeanSquare { eps } => (sum / width as f64 + eps).sqrt(),
            Statistic::RootSum { eps } => (sum + eps).sqrt(),
            Statistic::LargerOfNorm { eps } => {
                let norm = sum.sqrt();
                // Not `f64::max`, which would drop a NaN.
                if norm < eps { eps } else { norm }
            }
        }
    }

    /// The reciprocal of the divisor, or `None` when the row needs f64.
    #[inline(always)]
    pub(crate) fn inverse(self, sum: f64, width: usize) -> Option<f32> {
        let divisor = self.divisor(sum, width);
        (sum.is_finite() && divisor * divisor >= TRUSTED_FROM).then(|| (1.0 / divisor) as f32)
    }
}

/// One call: `out = value / divisor(value) * (offset + weight)` for each row, where the value is `input`, or
/// `input + residual`, which is then also stored in `residual`.
///
/// `out` may be `input` itself, with the same strides; apart from that the tensors do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct RmsCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row; 0 is legal.
    pub width: usize,
    /// The dtype of input, residual and output: f32, f16 or bf16.
    pub dtype: DType,
    /// What is normalised.
    pub input: Rows,
    /// Added to the input, and replaced by the rounded sum.
    pub residual: Option<Rows>,
    /// The result.
    pub out: Rows,
    /// The weight; ones when absent.
    pub weight: Option<Columns>,
    /// Whether the scale is `1 + weight`, formed in f32.
    pub weight_plus_one: bool,
    /// What a row is divided by.
    pub statistic: Statistic,
    /// Whether the normalised value is rounded to the dtype before the weight multiplies it.
    pub round_normalised: bool,
    /// Whether the norm is of the rounded sum rather than of the unrounded one.
    pub round_sum: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of every tensor, and `width` columns of the weight, lie in memory that is valid for the reads and writes
///   that [`RmsCall`] describes, aligned to their elements, of the stated dtypes (dtype: f32, f16 or bf16; weight: the same
///   or f32).
/// - No two tensors overlap, except that `out` may be `input`.
/// - Nobody else accesses them until this returns.
pub unsafe fn rms_norm(isa: Isa, pool: &dyn Parallel, call: &RmsCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => by_source::<f32>(isa, pool, call),
            DType::F16 => by_source::<f16>(isa, pool, call),
            DType::BF16 => by_source::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`rms_norm`]; `T` is the call's dtype.
unsafe fn by_source<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &RmsCall) {
    let &RmsCall { rows, width, input, out, .. } = call;
    let finish = Weight::<T>::new(call.weight, call.weight_plus_one);
    let common = Common {
        out,
        width,
        groups: 1,
        statistic: call.statistic,
        round: call.round_normalised,
        ahead: exceeds_caches(rows, width * size_of::<T>()),
        stream: streams(rows, width * size_of::<T>(), out, &[input]),
    };
    // SAFETY: the caller's clauses.
    unsafe {
        match call.residual {
            None => {
                let source = |row| Plain(input.row::<T>(row).cast_const());
                run::<T, _, _>(isa, pool, source, |_| finish, common, rows, 2);
            }
            Some(residual) => {
                let rounded = call.round_sum;
                let source =
                    |row| Sum { input: input.row::<T>(row).cast_const(), residual: residual.row::<T>(row), rounded };
                run::<T, _, _>(isa, pool, source, |_| finish, common, rows, 4);
            }
        }
    }
}

/// What does not depend on types.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) out: Rows,
    /// Columns of a group.
    pub(super) width: usize,
    /// Groups of columns in a row, each normalised by itself.
    pub(super) groups: usize,
    pub(super) statistic: Statistic,
    pub(super) round: bool,
    /// Whether the next row is fetched while one is worked on.
    pub(super) ahead: bool,
    pub(super) stream: bool,
}

/// Normalises `rows` rows of what `source` gives for each, `tensors` of its width being read or written.
///
/// # Safety
/// - Row `r` of `source(r)`, `finish(r)` and `common.out` are valid as their types say.
/// - Nobody else accesses them until this returns.
pub(super) unsafe fn run<T: Elem, Src: Source, F: Finish>(
    isa: Isa,
    pool: &dyn Parallel,
    source: impl Fn(usize) -> Src + Sync,
    finish: impl Fn(usize) -> F + Sync,
    common: Common,
    rows: usize,
    tensors: usize,
) {
    let bytes = tensors * common.width * common.groups * size_of::<T>();
    let kernel = Scaled::<T, _, _> { source, finish, common, out: PhantomData };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, rows, bytes) }
}

struct Scaled<T, P, Q> {
    source: P,
    finish: Q,
    common: Common,
    out: PhantomData<fn(T)>,
}

impl<T, Src, F, P, Q> RowKernel for Scaled<T, P, Q>
where
    T: Elem,
    Src: Source,
    F: Finish,
    P: Fn(usize) -> Src + Sync,
    Q: Fn(usize) -> F + Sync,
{
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let Common { out, width, groups, ahead, stream, .. } = self.common;
        let mut room = Room::new();
        let total = width * groups;
        // SAFETY: the trait's clause: the parameters have as many columns, for which there is room.
        let wide = Room::is_worth::<T>(&rows, total) && unsafe { (self.finish)(rows.start).widen(s, &mut room, total) };
        for row in rows.clone() {
            let (source, finish) = ((self.source)(row), (self.finish)(row));
            let finish = if wide { finish.widened(&room) } else { finish };
            let next = (ahead && row + 1 < rows.end).then(|| (self.source)(row + 1));
            for group in 0..groups {
                let column = group * width;
                // SAFETY: `row` is a row of the call and `column` the first of `width` columns in it.
                unsafe {
                    let out = out.row::<T>(row).add(column);
                    let segment = Segment { source: source.at(column), finish: finish.at(column), out };
                    let next = next.map(|next| next.at(column));
                    segment.normalise(s, &self.common, next);
                }
            }
        }
        if stream {
            s.fence();
        }
    }
}

/// One group of one row.
#[derive(Clone, Copy)]
pub(super) struct Segment<T, Src, F> {
    pub(super) source: Src,
    pub(super) finish: F,
    pub(super) out: *mut T,
}

impl<T: Elem, Src: Source, F: Finish> Segment<T, Src, F> {
    /// # Safety
    /// - `common.width` columns are valid in source, finish and out.
    /// - If `common.stream`, a fence follows.
    #[inline(always)]
    unsafe fn normalise<S: Simd>(self, s: S, common: &Common, next: Option<Src>) {
        let &Common { width, statistic, round, stream, .. } = common;
        // SAFETY: the caller's clauses; streamed only where a vector's alignment is given.
        unsafe {
            let sum = self.sum_of_squares(s, width, next);
            let vanishing = Src::PRODUCT && sum < TRUSTED_FROM * width as f64;
            let Some(inverse) = statistic.inverse(sum, width).filter(|_| !vanishing) else {
                return scaled_row(self.source, self.finish, self.out, width, statistic, round);
            };
            let stream = stream && is_vector_aligned::<S, T>(self.out);
            self.scaled(s, width, inverse, round, stream, next);
        }
    }

    /// The row times `inverse`, finished.
    ///
    /// # Safety
    /// - As for [`Self::scale`].
    #[inline(always)]
    pub(super) unsafe fn scaled<S: Simd>(
        self,
        s: S,
        width: usize,
        inverse: f32,
        round: bool,
        stream: bool,
        next: Option<Src>,
    ) {
        let (inverse, round) = (s.splat(inverse), T::NARROW && round);
        // SAFETY: the caller's clauses.
        unsafe {
            if const { S::SPECIALISE && F::HAS_KINDS && !Src::PRODUCT } {
                self.scale_by_kind(s, width, inverse, round, stream, next);
            } else {
                self.scale(s, width, inverse, round, stream, next);
            }
        }
    }

    /// [`Self::scale`] with a loop for each kind of weight.
    ///
    /// # Safety
    /// - As for [`Self::scale`].
    #[inline(always)]
    unsafe fn scale_by_kind<S: Simd>(
        self,
        s: S,
        width: usize,
        inverse: S::F32,
        round: bool,
        stream: bool,
        next: Option<Src>,
    ) {
        let known = |kind| Segment { finish: self.finish.known(kind), ..self };
        // SAFETY: the caller's clauses.
        unsafe {
            match (self.finish.kind(), round) {
                (Kind::Same, false) => known(Kind::Same).scale(s, width, inverse, false, stream, next),
                (Kind::Same, true) => known(Kind::Same).scale(s, width, inverse, true, stream, next),
                (Kind::Wide, false) => known(Kind::Wide).scale(s, width, inverse, false, stream, next),
                (Kind::Wide, true) => known(Kind::Wide).scale(s, width, inverse, true, stream, next),
                (Kind::PlusOne, false) => known(Kind::PlusOne).scale(s, width, inverse, false, stream, next),
                // Without a weight, a value rounded before is a value rounded once.
                (Kind::Bare, _) => known(Kind::Bare).scale(s, width, inverse, false, stream, next),
                (_, round) => self.scale(s, width, inverse, round, stream, next),
            }
        }
    }

    /// The sum of squares: block by block in f32, the blocks in f64. Meanwhile the first half of `next` is fetched.
    ///
    /// # Safety
    /// - `width` columns are valid in the source.
    #[inline(always)]
    pub(super) unsafe fn sum_of_squares<S: Simd>(self, s: S, width: usize, next: Option<Src>) -> f64 {
        let (mut total, mut i) = (0.0, 0);
        while i < width {
            let end = width.min(i + SUM_BLOCK);
            // SAFETY: the caller's clause: `i..end` is within the row.
            total += f64::from(unsafe { self.block_of_squares(s, i, end, next) });
            i = end;
        }
        total
    }

    /// The sum of the squares of columns `i..end`, in four vectors so that additions need not wait for each other.
    ///
    /// # Safety
    /// - The columns are valid in the source.
    #[inline(always)]
    unsafe fn block_of_squares<S: Simd>(self, s: S, mut i: usize, end: usize, next: Option<Src>) -> f32 {
        let mut sums = [s.splat(0.0); 4];
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            // Four products would be much code, and are so slow that their additions never wait.
            while !Src::PRODUCT && i + 4 * S::LANES <= end {
                if let Some(next) = next {
                    next.prefetch_half(s, 0, i);
                    next.prefetch_half(s, 0, i + 2 * S::LANES);
                }
                let (a, b) = (self.source.load_pair(s, i), self.source.load_pair(s, i + 2 * S::LANES));
                for (sum, v) in sums.iter_mut().zip([a[0], a[1], b[0], b[1]]) {
                    *sum = s.fma(v, v, *sum);
                }
                i += 4 * S::LANES;
            }
            let [mut first, mut second, third, fourth] = sums;
            while i + S::LANES <= end {
                if let Some(next) = next {
                    next.prefetch_half(s, 0, i);
                }
                let v = self.source.load::<S, true>(s, i, S::LANES);
                first = s.fma(v, v, first);
                i += S::LANES;
            }
            if i < end {
                let v = self.source.load::<S, false>(s, i, end - i);
                second = s.fma(v, v, second);
            }
            s.sum(s.add(s.add(first, second), s.add(third, fourth)))
        }
    }

    /// The second pass. Meanwhile the second half of `next` is fetched.
    ///
    /// # Safety
    /// - `width` columns are valid in source, finish and out; with `stream`, `out` is aligned to a vector, and a fence
    ///   follows.
    #[inline(always)]
    unsafe fn scale<S: Simd>(self, s: S, width: usize, inverse: S::F32, round: bool, stream: bool, next: Option<Src>) {
        let mut i = 0;
        // SAFETY: the caller's clauses, by the loops' bounds. Everything is read at some columns before anything is written
        // there, so `out` may be the input.
        unsafe {
            while i + 2 * S::LANES <= width {
                if let Some(next) = next {
                    next.prefetch_half(s, width / 2, i);
                }
                let v = self.source.load_pair(s, i);
                let y = [s.mul(v[0], inverse), s.mul(v[1], inverse)];
                let y = if round { T::round_pair(s, y) } else { y };
                let y = self.finish.apply_pair(s, i, y, round);
                self.source.keep_pair(s, i, v);
                store_two(s, self.out.add(i), y, stream);
                i += 2 * S::LANES;
            }
            if i + S::LANES <= width {
                let y = self.vector::<S, true>(s, i, S::LANES, inverse, round);
                store::<S, T, true>(s, self.out.add(i), S::LANES, y, stream);
                i += S::LANES;
            }
            if i < width {
                let y = self.vector::<S, false>(s, i, width - i, inverse, round);
                store::<S, T, false>(s, self.out.add(i), width - i, y, false);
            }
        }
    }

    /// Columns `i..i + n` of the result.
    ///
    /// # Safety
    /// - They are valid in source and finish.
    #[inline(always)]
    pub(super) unsafe fn vector<S: Simd, const FULL: bool>(
        self,
        s: S,
        i: usize,
        n: usize,
        inverse: S::F32,
        round: bool,
    ) -> S::F32 {
        // SAFETY: the caller's clause.
        unsafe {
            let v = self.source.load::<S, FULL>(s, i, n);
            let y = s.mul(v, inverse);
            let y = if round { T::round(s, y) } else { y };
            self.source.keep::<S, FULL>(s, i, n, v);
            self.finish.apply::<S, FULL>(s, i, n, y, round)
        }
    }
}
