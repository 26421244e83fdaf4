// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A few rows against many keys: the body of decoding.
//!
//! Keys are taken in blocks. Of each block, all query heads of one head of keys are served before the next head, so that a key
//! is read from memory and widened once; the block after it is fetched meanwhile.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::keys::{Keys, Place, Sequence};
use super::scoring::{Heads, Scoring};
use super::state::{Total, shift};
use crate::memory::{CACHE_LINE, prefetch_two};
use crate::simd::math::times_exp;
use crate::simd::{Elem, Simd, SimdOp};

/// Keys of a block: enough that the state of a row is seldom loaded, few enough that those of all heads stay in the second
/// cache with the block after them.
pub(super) const BLOCK: usize = 32;

/// Query heads that share the loads of a key.
const TOGETHER: usize = 4;

/// The most f32 of queries, or of sums, of one task: they are on the stack.
pub(super) const MOST_STATE: usize = 8192;

/// Room for queries or sums.
#[repr(align(64))]
pub(super) struct Room(MaybeUninit<[f32; MOST_STATE]>);

impl Room {
    /// Of no content.
    #[inline(always)]
    pub(super) const fn new() -> Room {
        Room(MaybeUninit::uninit())
    }

    /// Its first element.
    #[inline(always)]
    pub(super) fn data(&mut self) -> *mut f32 {
        self.0.as_mut_ptr().cast()
    }
}

/// Heads of queries that one task has at most.
pub(super) const fn most_heads(heads: &Heads) -> usize {
    MOST_STATE / if heads.width > heads.width_v { heads.width } else { heads.width_v }
}

/// Some query heads of one row.
pub(super) struct Task<'a> {
    pub(super) keys: &'a Keys,
    pub(super) heads: &'a Heads,
    pub(super) scoring: &'a Scoring,
    pub(super) sequence: Sequence,
    /// Which heads.
    pub(super) these: Range<usize>,
    /// Their queries, scaled, in the pair order of the keys.
    pub(super) q: *const f32,
}

#[repr(align(64))]
struct Scores([[f32; BLOCK]; TOGETHER]);

/// Some keys of a task. It is entered by a call of its own, so that its code is there once for each type of keys.
struct Take<'a, T> {
    task: &'a Task<'a>,
    range: Range<usize>,
    totals: &'a mut [Total],
    values: *mut f32,
    types: PhantomData<fn(T)>,
}

impl<T: Elem> SimdOp for Take<'_, T> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: the clauses of `Task::take`, which alone makes one.
        unsafe { self.task.blocks::<S, T>(s, self.range, self.totals, self.values) }
    }
}

impl Task<'_> {
    /// Takes `range` of the keys: `totals` and `values` hold what is known of each head, and then what is known with these.
    ///
    /// # Safety
    /// - Queries are valid to read, `values` to read and write, for all heads of the task; keys and values of the range too,
    ///   where the cache has their pages.
    #[inline(always)]
    pub(super) unsafe fn take<S: Simd, T: Elem>(
        &self,
        s: S,
        range: Range<usize>,
        totals: &mut [Total],
        values: *mut f32,
    ) {
        s.run(Take::<T> { task: self, range, totals, values, types: PhantomData });
    }

    /// # Safety
    /// - As for [`Task::take`].
    #[inline(always)]
    unsafe fn blocks<S: Simd, T: Elem>(&self, s: S, range: Range<usize>, totals: &mut [Total], values: *mut f32) {
        let mut scores = Scores([[0.0; BLOCK]; TOGETHER]);
        let (mut places, mut next) = ([Place::default(); BLOCK], [Place::default(); BLOCK]);
        // SAFETY: the caller's clauses, for this and all that follows: each block is a part of the range.
        unsafe {
            let mut count = self.list(range.start..range.end.min(range.start + BLOCK), &mut places);
            self.ask::<S, T>(s, &places[..count]);
            let mut start = range.start;
            while start < range.end {
                let following = (start + BLOCK).min(range.end)..(start + 2 * BLOCK).min(range.end);
                let more = self.list(following, &mut next);
                self.block::<S, T>(s, &places[..count], &next[..more], totals, values, &mut scores);
                (places, count) = (next, more);
                start += BLOCK;
            }
        }
    }

    /// Asks for what is read first: of a block of keys those of the first head, and then their values. What follows is asked for
    /// block by block; a short sequence has little else.
    #[inline(always)]
    fn ask<S: Simd, T: Elem>(&self, s: S, places: &[Place]) {
        let of = (self.these.start / self.heads.group()) as isize;
        let Keys { k, v, .. } = self.keys;
        for (plane, width, values) in [(k, self.heads.width, false), (v, self.heads.width_v, true)] {
            let head = plane.data.cast::<T>().wrapping_offset(of * plane.head);
            for place in places {
                let row = head.wrapping_offset(if values { place.v } else { place.k }).cast::<u8>();
                for line in (0..width * size_of::<T>()).step_by(CACHE_LINE) {
                    s.prefetch(row.wrapping_add(line));
                }
            }
        }
    }

    /// The places of the keys of `range` that the cache has.
    ///
    /// # Safety
    /// - As for [`Keys::places`]; the range has at most [`BLOCK`] keys.
    #[inline(always)]
    unsafe fn list(&self, range: Range<usize>, places: &mut [Place; BLOCK]) -> usize {
        let mut count = 0;
        // SAFETY: the caller's clause.
        unsafe {
            self.keys.places(self.sequence, range, |_, place| {
                if let Some(place) = place {
                    places[count] = place;
                    count += 1;
                }
            });
        }
        count
    }

    /// One block of at most [`BLOCK`] keys.
    ///
    /// # Safety
    /// - As for [`Task::take`]; the places are those of keys.
    #[inline(always)]
    unsafe fn block<S: Simd, T: Elem>(
        &self,
        s: S,
        places: &[Place],
        next: &[Place],
        totals: &mut [Total],
        values: *mut f32,
        scores: &mut Scores,
    ) {
        let (group, Heads { width, width_v, .. }) = (self.heads.group(), *self.heads);
        // The block that is asked for meanwhile, and how far it was: token by token, all heads of each, as they lie in memory.
        let later = if next.is_empty() { places } else { next };
        let heads = self.these.start / group..self.these.end.div_ceil(group);
        let mut asked = (0, heads.start);
        let mut head = self.these.start;
        while head < self.these.end {
            let of = head / group;
            let end = self.these.end.min((of + 1) * group);
            let k = self.keys.k.data.cast::<T>().wrapping_offset(of as isize * self.keys.k.head);
            let v = self.keys.v.data.cast::<T>().wrapping_offset(of as isize * self.keys.v.head);
            let mut ahead = [[std::ptr::null(); 2]; BLOCK];
            for ahead in &mut ahead {
                let Place { k, v } = later.get(asked.0).or(later.last()).copied().unwrap_or_default();
                *ahead = [(self.keys.k, k), (self.keys.v, v)].map(|(plane, place)| {
                    plane
                        .data
                        .cast::<T>()
                        .wrapping_offset(place.wrapping_add((asked.1 as isize).wrapping_mul(plane.head)))
                });
                asked = if asked.1 + 1 < heads.end { (asked.0, asked.1 + 1) } else { (asked.0 + 1, heads.start) };
            }
            while head < end {
                // Narrow vectors have half as many registers.
                let together = if S::LANES >= 16 { TOGETHER } else { TOGETHER / 2 };
                let n = together.min(end - head);
                let at = head - self.these.start;
                // SAFETY: the caller's clauses: heads of this task, places of keys.
                unsafe {
                    let (q, values) = (self.q.add(at * width), values.add(at * width_v));
                    let few = Few { scoring: self.scoring, k, v, places, ahead: &ahead, q, width, values, width_v };
                    let totals = &mut totals[at..at + n];
                    match n {
                        1 => few.take::<S, 1>(s, totals, scores),
                        2 => few.take::<S, 2>(s, totals, scores),
                        3 => few.take::<S, 3>(s, totals, scores),
                        _ => few.take::<S, TOGETHER>(s, totals, scores),
                    }
                }
                head += n;
            }
        }
    }
}

/// Query heads of one head of keys, against one block.
struct Few<'a, T> {
    scoring: &'a Scoring,
    k: *const T,
    v: *const T,
    places: &'a [Place],
    /// What is asked for while each key, and its value, is worked on.
    ahead: &'a [[*const T; 2]; BLOCK],
    q: *const f32,
    width: usize,
    values: *mut f32,
    width_v: usize,
}

impl<T: Elem> Few<'_, T> {
    /// # Safety
    /// - As for [`Task::take`], of R heads, for the keys of the places.
    #[inline(always)]
    unsafe fn take<S: Simd, const R: usize>(&self, s: S, totals: &mut [Total], scores: &mut Scores) {
        let count = self.places.len();
        if count == 0 {
            return;
        }
        // SAFETY: the caller's clauses; the rows of `scores` hold a block.
        unsafe {
            let mut key = 0;
            while key < count {
                // The last ones again where four are not left.
                let place = |n: usize| self.places[(key + n).min(count - 1)].k;
                let rows = [0, 1, 2, 3].map(|n| self.k.offset(place(n)));
                let ahead = [0, 1, 2, 3].map(|n| self.ahead[key + n][0]);
                self.score::<S, R>(s, rows, ahead, scores, key);
                key += 4;
            }
            let before = s.run(Weights { scoring: self.scoring, scores, count, totals });
            let mut column = 0;
            let vectors = if S::LANES >= 16 { 4 } else { 2 };
            while column + vectors * S::LANES <= self.width_v {
                if S::LANES >= 16 {
                    self.weigh::<S, R, 2>(s, &before, scores, column);
                } else {
                    self.weigh::<S, R, 1>(s, &before, scores, column);
                }
                column += vectors * S::LANES;
            }
            while column + 2 * S::LANES <= self.width_v {
                self.weigh::<S, R, 1>(s, &before, scores, column);
                column += 2 * S::LANES;
            }
            if column < self.width_v {
                self.weigh_last::<S, R>(s, &before, scores, column);
            }
        }
    }

    /// The products of R queries with four keys.
    ///
    /// # Safety
    /// - As for [`Few::take`]; `key` is less than [`BLOCK`] and a multiple of 4.
    #[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
    #[inline(always)]
    unsafe fn score<S: Simd, const R: usize>(
        &self,
        s: S,
        rows: [*const T; 4],
        ahead: [*const T; 4],
        scores: &mut Scores,
        key: usize,
    ) {
        let mut sums = [[s.splat(0.0); 4]; R];
        let mut i = 0;
        // SAFETY: the caller's clauses.
        unsafe {
            while i + 2 * S::LANES <= self.width {
                let mut q = [[s.splat(0.0); 2]; R];
                for (row, q) in q.iter_mut().enumerate() {
                    let at = self.q.add(row * self.width + i);
                    *q = [s.load_f32(at), s.load_f32(at.add(S::LANES))];
                }
                for n in 0..4 {
                    prefetch_two(s, ahead[n].wrapping_add(i));
                    let k = T::load_pair(s, rows[n].add(i));
                    for row in 0..R {
                        sums[row][n] = s.fma(q[row][0], k[0], sums[row][n]);
                        sums[row][n] = s.fma(q[row][1], k[1], sums[row][n]);
                    }
                }
                i += 2 * S::LANES;
            }
            if i < self.width {
                for n in 0..4 {
                    let k = T::load(s, rows[n].add(i));
                    for row in 0..R {
                        sums[row][n] = s.fma(s.load_f32(self.q.add(row * self.width + i)), k, sums[row][n]);
                    }
                }
            }
        }
        for row in 0..R {
            scores.0[row][key..key + 4].copy_from_slice(&s.sum_four(sums[row]));
        }
    }

    /// Adds weighted values to what is known: `2 P` vectors of columns from `column` on.
    ///
    /// # Safety
    /// - As for [`Few::take`]; the columns exist.
    #[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
    #[inline(always)]
    unsafe fn weigh<S: Simd, const R: usize, const P: usize>(
        &self,
        s: S,
        before: &[f32; TOGETHER],
        scores: &Scores,
        column: usize,
    ) {
        let mut sums = [[[s.splat(0.0); 2]; P]; R];
        // SAFETY: the caller's clauses.
        unsafe {
            for row in 0..R {
                let before = s.splat(before[row]);
                for pair in 0..P {
                    let at = self.values.add(row * self.width_v + column + 2 * pair * S::LANES);
                    sums[row][pair] = [s.load_f32(at), s.load_f32(at.add(S::LANES))].map(|v| s.mul(v, before));
                }
            }
            for (key, place) in self.places.iter().enumerate() {
                let v = self.v.offset(place.v).add(column);
                let ahead = self.ahead[key & (BLOCK - 1)][1].wrapping_add(column);
                let mut weights = [s.splat(0.0); R];
                for row in 0..R {
                    weights[row] = s.splat(*scores.0[row].get_unchecked(key));
                }
                for pair in 0..P {
                    prefetch_two(s, ahead.wrapping_add(2 * pair * S::LANES));
                    let v = T::load_pair(s, v.add(2 * pair * S::LANES));
                    for row in 0..R {
                        sums[row][pair][0] = s.fma(weights[row], v[0], sums[row][pair][0]);
                        sums[row][pair][1] = s.fma(weights[row], v[1], sums[row][pair][1]);
                    }
                }
            }
            for row in 0..R {
                for pair in 0..P {
                    let at = self.values.add(row * self.width_v + column + 2 * pair * S::LANES);
                    s.store_f32::<false>(at, sums[row][pair][0]);
                    s.store_f32::<false>(at.add(S::LANES), sums[row][pair][1]);
                }
            }
        }
    }

    /// The same for the one last vector of columns.
    ///
    /// # Safety
    /// - As for [`Few::weigh`].
    #[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
    #[inline(always)]
    unsafe fn weigh_last<S: Simd, const R: usize>(
        &self,
        s: S,
        before: &[f32; TOGETHER],
        scores: &Scores,
        column: usize,
    ) {
        let mut sums = [s.splat(0.0); R];
        // SAFETY: the caller's clauses.
        unsafe {
            for row in 0..R {
                let at = self.values.add(row * self.width_v + column);
                sums[row] = s.mul(s.load_f32(at), s.splat(before[row]));
            }
            for (key, place) in self.places.iter().enumerate() {
                let v = T::load(s, self.v.offset(place.v).add(column));
                for row in 0..R {
                    sums[row] = s.fma(s.splat(scores.0[row][key]), v, sums[row]);
                }
            }
            for row in 0..R {
                s.store_f32::<false>(self.values.add(row * self.width_v + column), sums[row]);
            }
        }
    }
}

/// From scores to weights, of as many rows as there are totals: what all before them is multiplied by.
struct Weights<'a> {
    scoring: &'a Scoring,
    scores: &'a mut Scores,
    count: usize,
    totals: &'a mut [Total],
}

impl SimdOp for Weights<'_> {
    type Output = [f32; TOGETHER];

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> [f32; TOGETHER] {
        let mut before = [1.0; TOGETHER];
        for ((total, before), scores) in self.totals.iter_mut().zip(&mut before).zip(&mut self.scores.0) {
            let padded = self.count.next_multiple_of(S::LANES);
            // SAFETY: a row holds a block, which is a multiple of the vector.
            unsafe {
                self.scoring.cap(s, scores.as_mut_ptr(), padded);
                scores[self.count..padded].fill(f32::NEG_INFINITY);
                *before = exponentials(s, scores.as_mut_ptr(), self.count, total);
            }
        }
        before
    }
}

/// Replaces scores by exponentials, and answers what everything before them is multiplied by.
///
/// # Safety
/// - `scores` is valid for `count` of them, rounded up to whole vectors; those past the last are -infinity.
#[inline(always)]
unsafe fn exponentials<S: Simd>(s: S, scores: *mut f32, count: usize, total: &mut Total) -> f32 {
    // SAFETY: the caller's clause.
    unsafe {
        let (mut most, mut i) = (s.splat(f32::NEG_INFINITY), 0);
        while i < count {
            most = s.max(s.load_f32(scores.add(i)), most);
            i += S::LANES;
        }
        let here = s.largest(most);
        let largest = if here > total.largest { here } else { total.largest };
        let (base, one) = (s.splat(shift(largest)), s.splat(1.0));
        let (mut sum, mut i) = (s.splat(0.0), 0);
        while i < count {
            let weight = times_exp(s, one, s.sub(s.load_f32(scores.add(i)), base));
            s.store_f32::<false>(scores.add(i), weight);
            sum = s.add(sum, weight);
            i += S::LANES;
        }
        let before = if largest == total.largest { 1.0 } else { (total.largest - shift(largest)).exp() };
        *total = Total { largest, sum: total.sum * before + s.sum(sum) };
        before
    }
}
