// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A few rows against many keys: the body of decoding.
//!
//! Keys are taken in blocks, and blocks in chunks. Of each chunk, all query heads of one head of keys are served before the next head, so
//! that a key is read from memory and widened once, and memory is read in an order that is nearly its own; what comes is fetched
//! meanwhile.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::keys::{Keys, Place, Sequence};
use super::scoring::{Heads, Scoring};
use super::state::{Total, shift};
use crate::memory::{CACHE_LINE, prefetch_half, prefetch_two, run_to_ask};
use crate::simd::math::times_exp;
use crate::simd::{Elem, Simd, SimdOp};

/// Keys of a block, whose scores become weights together: two vectors of the widest.
pub(super) const BLOCK: usize = 32;

/// Keys of a chunk, of which one head's are read before the next head's: enough that the state of a row is seldom loaded, few enough that
/// the lines of a token, with all of its heads, are read soon after each other.
const CHUNK: usize = 16;

/// Query heads that share the loads of a key.
const TOGETHER: usize = 4;

/// The most f32 of queries, or of sums, of one task: they are on the stack.
pub(super) const MOST_STATE: usize = 8192;

/// The most heads of a task: of the fewest features.
pub(super) const MOST_HEADS: usize = MOST_STATE / 64;

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

/// The scores of a block, and then its weights, of all heads of a task.
#[repr(align(64))]
struct Scores(MaybeUninit<[[f32; BLOCK]; MOST_HEADS]>);

impl Scores {
    /// The row of a head.
    #[inline(always)]
    fn row(&mut self, head: usize) -> *mut f32 {
        debug_assert!(head < MOST_HEADS);
        self.0.as_mut_ptr().cast::<f32>().wrapping_add(head * BLOCK)
    }
}

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
        let mut scores = Scores(MaybeUninit::uninit());
        // Those of a block, and behind them those of the block after it.
        let mut places = [Place::default(); 2 * BLOCK];
        let part = |from: usize| (range.start + from).min(range.end)..(range.start + from + BLOCK).min(range.end);
        // SAFETY: the caller's clauses, for this and all that follows: each block is a part of the range.
        unsafe {
            let mut count = self.list(part(0), &mut places);
            self.ask::<S, T>(s, &places[..count]);
            for start in (0..range.len()).step_by(BLOCK) {
                let more = self.list(part(start + BLOCK), &mut places[count..]);
                self.block::<S, T>(s, &places[..count + more], count, totals, values, &mut scores);
                places.copy_within(count..count + more, 0);
                count = more;
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
    /// - As for [`Keys::places`].
    #[inline(always)]
    unsafe fn list(&self, range: Range<usize>, places: &mut [Place]) -> usize {
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

    /// One block: the first `count` of the places, at most [`BLOCK`]. Those behind them come next.
    ///
    /// # Safety
    /// - As for [`Task::take`]; the places are those of keys.
    #[inline(always)]
    unsafe fn block<S: Simd, T: Elem>(
        &self,
        s: S,
        places: &[Place],
        count: usize,
        totals: &mut [Total],
        values: *mut f32,
        scores: &mut Scores,
    ) {
        if count == 0 {
            return;
        }
        // Narrow vectors have half as many registers.
        let together = if S::LANES >= 16 { TOGETHER } else { TOGETHER / 2 };
        let mut before = [1.0; MOST_HEADS];
        // SAFETY: the caller's clauses: heads of this task, places of keys. Scores are those of all heads before they become weights.
        unsafe {
            for start in (0..count).step_by(CHUNK) {
                let chunk = Chunk::new(s, places, start..(start + CHUNK).min(count));
                for (few, at, n) in self.heads::<T>(&chunk, together) {
                    let (q, to) = (self.q.add(at * self.heads.width), scores.row(at).add(start));
                    match n {
                        1 => few.scores::<S, 1>(s, q, to),
                        2 => few.scores::<S, 2>(s, q, to),
                        3 => few.scores::<S, 3>(s, q, to),
                        _ => few.scores::<S, TOGETHER>(s, q, to),
                    }
                }
            }
            s.run(Weights { scoring: self.scoring, scores: scores.row(0), count, totals, before: &mut before });
            for start in (0..count).step_by(CHUNK) {
                let chunk = Chunk::new(s, places, start..(start + CHUNK).min(count));
                for (few, at, n) in self.heads::<T>(&chunk, together) {
                    let (to, weights) = (values.add(at * self.heads.width_v), scores.row(at).add(start));
                    let before = if start == 0 { Some(before.as_ptr().add(at)) } else { None };
                    match n {
                        1 => few.values::<S, 1>(s, before, weights, to),
                        2 => few.values::<S, 2>(s, before, weights, to),
                        3 => few.values::<S, 3>(s, before, weights, to),
                        _ => few.values::<S, TOGETHER>(s, before, weights, to),
                    }
                }
            }
        }
    }

    /// The heads of the task, as many at a time as share the loads of a key. A list, and no function that is given one that computes:
    /// that would be compiled for every processor.
    #[inline(always)]
    fn heads<'a, T>(&'a self, chunk: &'a Chunk, together: usize) -> Groups<'a, T> {
        Groups { task: self, keys: &chunk.keys[..chunk.count], head: self.these.start, together, types: PhantomData }
    }
}

/// Heads of a task, some at a time: with the keys of a chunk, the first of them, counted from the task's, and their number.
struct Groups<'a, T> {
    task: &'a Task<'a>,
    keys: &'a [[Place; 2]],
    head: usize,
    together: usize,
    types: PhantomData<fn(T)>,
}

impl<'a, T> Iterator for Groups<'a, T> {
    type Item = (Few<'a, T>, usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let Task { these, heads, keys: Keys { k, v, .. }, .. } = self.task;
        let at = self.head;
        if at >= these.end {
            return None;
        }
        let of = at / heads.group();
        let n = self.together.min(these.end.min((of + 1) * heads.group()) - at);
        self.head += n;
        let few = Few {
            k: k.data.cast::<T>().wrapping_offset(of as isize * k.head),
            v: v.data.cast::<T>().wrapping_offset(of as isize * v.head),
            keys: self.keys,
            width: heads.width,
            width_v: heads.width_v,
        };
        Some((few, at - these.start, n))
    }
}

/// The keys of a chunk: where each is, and what is asked for while it is worked on.
struct Chunk {
    keys: [[Place; 2]; CHUNK],
    count: usize,
}

impl Chunk {
    /// Some of the places, at least one and no more than a chunk.
    #[inline(always)]
    fn new<S: Simd>(s: S, places: &[Place], these: Range<usize>) -> Self {
        // A processor that goes on with pages by itself needs their beginnings, and those soon; others take a block's time for a line.
        let ahead = if s.follows_pages() { CHUNK } else { BLOCK };
        let mut keys = [[Place::default(); 2]; CHUNK];
        for (at, key) in keys.iter_mut().zip(these.clone()) {
            let later = places.get(key + ahead).or(places.last());
            *at = [places[key], later.copied().unwrap_or_default()];
        }
        Chunk { keys, count: these.len().min(CHUNK) }
    }
}

/// Keys of a chunk, of one head, and their values.
struct Few<'a, T> {
    k: *const T,
    v: *const T,
    /// As in [`Chunk`].
    keys: &'a [[Place; 2]],
    width: usize,
    width_v: usize,
}

impl<T: Elem> Few<'_, T> {
    /// The scores of R heads.
    ///
    /// # Safety
    /// - As for [`Task::take`], of R heads whose queries lie at `q`, for the keys of the chunk; `to` is their place in R rows of a block.
    #[inline(always)]
    unsafe fn scores<S: Simd, const R: usize>(&self, s: S, q: *const f32, to: *mut f32) {
        for (at, four) in self.keys.chunks(4).enumerate() {
            // Where four are not left, the last one again.
            let key = |n: usize| four[n.min(four.len() - 1)];
            // SAFETY: the caller's clauses.
            unsafe {
                let rows = [0, 1, 2, 3].map(|n| self.k.offset(key(n)[0].k));
                let ahead = [0, 1, 2, 3].map(|n| run_to_ask(s, self.k.wrapping_offset(key(n)[1].k)));
                self.score::<S, R>(s, (rows, ahead), q, to.add(4 * at));
            }
        }
    }

    /// Adds the weighted values of R heads.
    ///
    /// # Safety
    /// - As for [`Task::take`], of R heads whose values lie at `to`, for the keys of the chunk; `weights` is their place in R rows of a
    ///   block, `before` has R factors.
    #[inline(always)]
    unsafe fn values<S: Simd, const R: usize>(
        &self,
        s: S,
        before: Option<*const f32>,
        weights: *const f32,
        to: *mut f32,
    ) {
        let vectors = if S::LANES >= 16 { 4 } else { 2 };
        let mut column = 0;
        // SAFETY: the caller's clauses.
        unsafe {
            while column + vectors * S::LANES <= self.width_v {
                if S::LANES >= 16 {
                    self.weigh::<S, R, 2>(s, before, weights, to, column);
                } else {
                    self.weigh::<S, R, 1>(s, before, weights, to, column);
                }
                column += vectors * S::LANES;
            }
            while column + 2 * S::LANES <= self.width_v {
                self.weigh::<S, R, 1>(s, before, weights, to, column);
                column += 2 * S::LANES;
            }
            if column < self.width_v {
                self.weigh_last::<S, R>(s, before, weights, to, column);
            }
        }
    }

    /// The products of R queries with four keys.
    ///
    /// # Safety
    /// - As for [`Few::scores`]; `rows` are those of keys.
    #[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
    #[inline(always)]
    unsafe fn score<S: Simd, const R: usize>(
        &self,
        s: S,
        (rows, ahead): ([*const T; 4], [*const T; 4]),
        q: *const f32,
        to: *mut f32,
    ) {
        let mut sums = [[s.splat(0.0); 4]; R];
        let mut i = 0;
        // SAFETY: the caller's clauses.
        unsafe {
            while i + 2 * S::LANES <= self.width {
                let mut features = [[s.splat(0.0); 2]; R];
                for (row, features) in features.iter_mut().enumerate() {
                    let at = q.add(row * self.width + i);
                    *features = [s.load_f32(at), s.load_f32(at.add(S::LANES))];
                }
                self.ask_ahead(s, &ahead, i);
                for n in 0..4 {
                    let k = T::load_pair(s, rows[n].add(i));
                    for row in 0..R {
                        sums[row][n] = s.fma(features[row][0], k[0], sums[row][n]);
                        sums[row][n] = s.fma(features[row][1], k[1], sums[row][n]);
                    }
                }
                i += 2 * S::LANES;
            }
            if i < self.width {
                for n in 0..4 {
                    let k = T::load(s, rows[n].add(i));
                    for row in 0..R {
                        sums[row][n] = s.fma(s.load_f32(q.add(row * self.width + i)), k, sums[row][n]);
                    }
                }
            }
            for row in 0..R {
                to.add(row * BLOCK).cast::<[f32; 4]>().write(s.sum_four(sums[row]));
            }
        }
    }

    /// Asks for what belongs to two vectors, from element `i` on, of each of the runs that are asked for.
    #[inline(always)]
    fn ask_ahead<S: Simd, const N: usize>(&self, s: S, runs: &[*const T; N], i: usize) {
        let half = s.follows_pages();
        for run in runs {
            if half {
                prefetch_half(s, *run, i);
            } else {
                prefetch_two(s, run.wrapping_add(i));
            }
        }
    }

    /// What is known so far of one vector of values, before a chunk is added.
    ///
    /// # Safety
    /// - `at` is valid to read, `before` a factor.
    #[inline(always)]
    unsafe fn known<S: Simd>(s: S, at: *const f32, before: Option<*const f32>, row: usize) -> S::F32 {
        // SAFETY: the caller's clause.
        unsafe {
            let known = s.load_f32(at);
            match before {
                Some(before) => s.mul(known, s.splat(before.add(row).read())),
                None => known,
            }
        }
    }

    /// Adds weighted values to what is known: `2 P` vectors of columns from `column` on.
    ///
    /// # Safety
    /// - As for [`Few::values`]; the columns exist.
    #[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
    #[inline(always)]
    unsafe fn weigh<S: Simd, const R: usize, const P: usize>(
        &self,
        s: S,
        before: Option<*const f32>,
        weights: *const f32,
        to: *mut f32,
        column: usize,
    ) {
        let mut sums = [[[s.splat(0.0); 2]; P]; R];
        // SAFETY: the caller's clauses.
        unsafe {
            let at = |row: usize, pair: usize| to.add(row * self.width_v + column + 2 * pair * S::LANES);
            for row in 0..R {
                for pair in 0..P {
                    let at = at(row, pair);
                    sums[row][pair] = [Self::known(s, at, before, row), Self::known(s, at.add(S::LANES), before, row)];
                }
            }
            for (key, [place, later]) in self.keys.iter().enumerate() {
                let v = self.v.offset(place.v).add(column);
                let ahead = run_to_ask(s, self.v.wrapping_offset(later.v));
                let mut weight = [s.splat(0.0); R];
                for row in 0..R {
                    weight[row] = s.splat(weights.add(row * BLOCK + key).read());
                }
                for pair in 0..P {
                    self.ask_ahead(s, &[ahead], column + 2 * pair * S::LANES);
                    let v = T::load_pair(s, v.add(2 * pair * S::LANES));
                    for row in 0..R {
                        sums[row][pair][0] = s.fma(weight[row], v[0], sums[row][pair][0]);
                        sums[row][pair][1] = s.fma(weight[row], v[1], sums[row][pair][1]);
                    }
                }
            }
            for row in 0..R {
                for pair in 0..P {
                    s.store_f32::<false>(at(row, pair), sums[row][pair][0]);
                    s.store_f32::<false>(at(row, pair).add(S::LANES), sums[row][pair][1]);
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
        before: Option<*const f32>,
        weights: *const f32,
        to: *mut f32,
        column: usize,
    ) {
        let mut sums = [s.splat(0.0); R];
        // SAFETY: the caller's clauses.
        unsafe {
            let at = |row: usize| to.add(row * self.width_v + column);
            for row in 0..R {
                sums[row] = Self::known(s, at(row), before, row);
            }
            for (key, [place, _]) in self.keys.iter().enumerate() {
                let v = T::load(s, self.v.offset(place.v).add(column));
                for row in 0..R {
                    sums[row] = s.fma(s.splat(weights.add(row * BLOCK + key).read()), v, sums[row]);
                }
            }
            for row in 0..R {
                s.store_f32::<false>(at(row), sums[row]);
            }
        }
    }
}

/// From scores to weights, of as many rows of a block as there are totals: all before them is multiplied by `before`.
struct Weights<'a> {
    scoring: &'a Scoring,
    scores: *mut f32,
    count: usize,
    totals: &'a mut [Total],
    before: &'a mut [f32; MOST_HEADS],
}

impl SimdOp for Weights<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        for (row, (total, before)) in self.totals.iter_mut().zip(self.before).enumerate() {
            let padded = self.count.next_multiple_of(S::LANES);
            // SAFETY: the scores of `count` keys, at most a block, were written by `Task::block`, which alone makes one; a row holds a block,
            // which is a multiple of the vector.
            unsafe {
                let scores = self.scores.add(row * BLOCK);
                for key in self.count..padded {
                    scores.add(key).write(f32::NEG_INFINITY);
                }
                self.scoring.cap(s, scores, padded);
                for key in self.count..padded {
                    scores.add(key).write(f32::NEG_INFINITY);
                }
                *before = exponentials(s, scores, self.count, total);
            }
        }
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
