// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A group of columns of a row: its squares summed, and the group scaled.

use super::TRUSTED_FROM;
use super::exact::scaled_row;
use super::finish::{Finish, Kind};
use super::overlap::{Ahead, Look, Write, pays, total, write, write_and_total};
use super::rms::Common;
use super::source::Source;
use crate::memory::{is_vector_aligned, store, store_two};
use crate::simd::{Elem, Simd};

/// One group of one row.
#[derive(Clone, Copy)]
pub(super) struct Segment<T, Src, F> {
    pub(super) source: Src,
    pub(super) finish: F,
    pub(super) out: *mut T,
}

impl<T: Elem, Src: Source, F: Finish> Segment<T, Src, F> {
    /// Whether rows that are streamed are written while the next one is summed. Products are bound by arithmetic.
    const fn overlaps<S: Simd>() -> bool {
        pays::<S, T>() && !Src::PRODUCT
    }

    /// Normalises the group whose sum of squares is `found`, if it was. The answer is that of `coming`, if it was taken.
    ///
    /// # Safety
    /// - `common.width` columns are valid in source, finish and out, in `coming`, and in `next`.
    /// - If `common.stream`, a fence follows.
    #[inline(always)]
    pub(super) unsafe fn normalise<S: Simd>(
        self,
        s: S,
        common: &Common,
        found: Option<f64>,
        next: Option<Src>,
        coming: Src,
    ) -> Option<f64> {
        let &Common { width, statistic, round, stream, distance, .. } = common;
        // SAFETY: the caller's clauses; streamed only where a vector's alignment is given.
        unsafe {
            let sum = match found {
                Some(sum) => sum,
                None => total(s, Squares(self.source), width, next.map(Squares)),
            };
            let vanishing = Src::PRODUCT && sum < TRUSTED_FROM * width as f64;
            let Some(inverse) = statistic.inverse(sum, width).filter(|_| !vanishing) else {
                scaled_row(self.source, self.finish, self.out, width, statistic, round);
                return None;
            };
            let later = match stream && is_vector_aligned::<S, T>(self.out) {
                true if !Self::overlaps::<S>() => Later::Stream(next),
                true => Later::Sum(coming, distance),
                false => Later::Fetch(next),
            };
            self.scaled(s, width, inverse, round, later)
        }
    }

    /// The row times `inverse`, finished. The answer is the sum of squares of what is `later`, if it was taken.
    ///
    /// # Safety
    /// - `width` columns are valid in source, finish and out, and in what is later.
    /// - If it is streamed or summed, `out` is aligned to a vector, and a fence follows.
    #[inline(always)]
    pub(super) unsafe fn scaled<S: Simd>(
        self,
        s: S,
        width: usize,
        inverse: f32,
        round: bool,
        later: Later<Src>,
    ) -> Option<f64> {
        let (inverse, round) = (s.splat(inverse), T::NARROW && round);
        let known = |kind| Segment { finish: self.finish.known(kind), ..self };
        // SAFETY: the caller's clauses.
        unsafe {
            if const { !S::SPECIALISE || Src::PRODUCT } {
                return self.scale(s, width, inverse, round, later);
            }
            match (self.finish.kind(), round) {
                (Kind::Same, false) if const { F::LOOPS.has(Kind::Same, false) } => {
                    known(Kind::Same).scale(s, width, inverse, false, later)
                }
                (Kind::Same, true) if const { F::LOOPS.has(Kind::Same, true) } => {
                    known(Kind::Same).scale(s, width, inverse, true, later)
                }
                (Kind::Wide, false) if const { F::LOOPS.has(Kind::Wide, false) } => {
                    known(Kind::Wide).scale(s, width, inverse, false, later)
                }
                (Kind::Wide, true) if const { F::LOOPS.has(Kind::Wide, true) } => {
                    known(Kind::Wide).scale(s, width, inverse, true, later)
                }
                (Kind::PlusOne, false) if const { F::LOOPS.has(Kind::PlusOne, false) } => {
                    known(Kind::PlusOne).scale(s, width, inverse, false, later)
                }
                // Without a weight, a value rounded before is a value rounded once.
                (Kind::Bare, _) if const { F::LOOPS.has(Kind::Bare, false) } => {
                    known(Kind::Bare).scale(s, width, inverse, false, later)
                }
                (_, round) => self.scale(s, width, inverse, round, later),
            }
        }
    }

    /// # Safety
    /// - As for [`Self::scaled`].
    #[inline(always)]
    unsafe fn scale<S: Simd>(self, s: S, width: usize, inverse: S::F32, round: bool, later: Later<Src>) -> Option<f64> {
        let row = Scale::<S, T, Src, F> { segment: self, inverse, round, stream: false };
        let streamed = Scale::<S, T, Src, F> { stream: true, ..row };
        // SAFETY: the caller's clauses.
        unsafe {
            match later {
                Later::Sum(coming, ahead) if const { Self::overlaps::<S>() } => {
                    return Some(write_and_total(s, streamed, Squares(coming), width, ahead));
                }
                Later::Stream(next) if const { S::STREAMS && !Self::overlaps::<S>() } => {
                    write(s, streamed, width, next.map(Squares));
                }
                // What streams nothing gets here for nothing to fetch.
                Later::Sum(..) => write::<S, _, Squares<Src>>(s, row, width, None),
                Later::Fetch(next) | Later::Stream(next) => write(s, row, width, next.map(Squares)),
            }
        }
        None
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

/// What is done for a later row while one is written.
#[derive(Clone, Copy)]
pub(super) enum Later<Src> {
    /// Its second half is fetched.
    Fetch(Option<Src>),
    /// The same, while the row is written past the caches.
    Stream(Option<Src>),
    /// Its squares are summed, and memory is asked for beyond it, while the row is written past the caches.
    Sum(Src, Ahead),
}

/// The squares of a row.
#[derive(Clone, Copy)]
pub(super) struct Squares<Src>(pub(super) Src);

impl<S: Simd, Src: Source> Look<S> for Squares<Src> {
    const FOURS: bool = !Src::PRODUCT;
    /// Four, so that additions need not wait for each other.
    type Sums = [S::F32; 4];
    type Total = f64;

    #[inline(always)]
    fn none(&self, s: S) -> [S::F32; 4] {
        [s.splat(0.0); 4]
    }

    #[inline(always)]
    unsafe fn four(&self, s: S, i: usize, mut sums: [S::F32; 4]) -> [S::F32; 4] {
        // SAFETY: the trait's clause.
        let (a, b) = unsafe { (self.0.load_pair(s, i), self.0.load_pair(s, i + 2 * S::LANES)) };
        for (sum, v) in sums.iter_mut().zip([a[0], a[1], b[0], b[1]]) {
            *sum = s.fma(v, v, *sum);
        }
        sums
    }

    #[inline(always)]
    unsafe fn block(&self, s: S, (mut i, end): (usize, usize), sums: [S::F32; 4], total: f64) -> f64 {
        let [mut first, mut second, third, fourth] = sums;
        // SAFETY: the trait's clause, by the loop's bound.
        unsafe {
            while i + S::LANES <= end {
                let v = self.0.load::<S, true>(s, i, S::LANES);
                first = s.fma(v, v, first);
                i += S::LANES;
            }
            if i < end {
                let v = self.0.load::<S, false>(s, i, end - i);
                second = s.fma(v, v, second);
            }
        }
        total + f64::from(s.sum(s.add(s.add(first, second), s.add(third, fourth))))
    }

    #[inline(always)]
    fn fetch_half(&self, s: S, from: usize, i: usize) {
        self.0.prefetch_half(s, from, i);
    }

    #[inline(always)]
    fn fetch(&self, s: S, i: usize, ahead: Ahead) {
        self.0.fetch(s, i, ahead);
    }
}

/// A group times `inverse`, finished. Whoever makes one has its columns valid in source, finish and out; with `stream`, `out` is
/// aligned to a vector, and a fence follows.
///
/// Everything is read at some columns before anything is written there, so `out` may be the input.
struct Scale<S: Simd, T, Src, F> {
    segment: Segment<T, Src, F>,
    inverse: S::F32,
    round: bool,
    stream: bool,
}

impl<S: Simd, T: Elem, Src: Source, F: Finish> Clone for Scale<S, T, Src, F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Simd, T: Elem, Src: Source, F: Finish> Copy for Scale<S, T, Src, F> {}

impl<S: Simd, T: Elem, Src: Source, F: Finish> Write<S> for Scale<S, T, Src, F> {
    #[inline(always)]
    unsafe fn pair(&self, s: S, i: usize) {
        let &Scale { segment: Segment { source, finish, out }, inverse, round, stream } = self;
        // SAFETY: the trait's clause.
        unsafe {
            let v = source.load_pair(s, i);
            let y = [s.mul(v[0], inverse), s.mul(v[1], inverse)];
            let y = if round { T::round_pair(s, y) } else { y };
            let y = finish.apply_pair(s, i, y, round);
            source.keep_pair(s, i, v);
            store_two(s, out.add(i), y, stream);
        }
    }

    #[inline(always)]
    unsafe fn end(&self, s: S, mut i: usize, end: usize) {
        let &Scale { segment, inverse, round, stream } = self;
        // SAFETY: the trait's clause.
        unsafe {
            if i + S::LANES <= end {
                let y = segment.vector::<S, true>(s, i, S::LANES, inverse, round);
                store::<S, T, true>(s, segment.out.add(i), S::LANES, y, stream);
                i += S::LANES;
            }
            if i < end {
                let y = segment.vector::<S, false>(s, i, end - i, inverse, round);
                store::<S, T, false>(s, segment.out.add(i), end - i, y, false);
            }
        }
    }

    #[inline(always)]
    fn fetch(&self, s: S, i: usize, ahead: Ahead) {
        self.segment.finish.fetch(s, i, ahead);
    }
}
