// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A block of rows against all keys that they see: two small matrix products and a softmax between.
//!
//! Scores are made transposed, a key's for all rows side by side: so keys and values need no transposition, largest scores and
//! sums need no sum over lanes, and a mask is a comparison with what each row sees.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Call;
use super::keys::Sequence;
use super::state::{Total, read_query};
use crate::simd::math::times_exp;
use crate::simd::{Elem, Simd, SimdOp};

/// Rows of a block, a row being a query of one head: of all heads of a group, so that keys serve all of them.
pub(super) const ROWS: usize = 64;

/// f32 of the keys of a block, and of its values: as much as stays in the second cache with the rows.
const PANEL: usize = 8192;

/// The most features.
const WIDTH: usize = 256;

/// The most keys of a block.
const KEYS: usize = 64;

/// What a block works in. It is on the stack, since threads are the caller's.
#[repr(C, align(64))]
struct Room {
    /// Queries, scaled, a feature of all rows side by side.
    q: [f32; WIDTH * ROWS],
    /// Keys, widened.
    k: [f32; PANEL],
    /// Values, widened.
    v: [f32; PANEL],
    /// Scores, then their exponentials: those of a key for all rows side by side.
    scores: [f32; KEYS * ROWS],
    /// Sums of weighted values, row by row.
    sums: [f32; ROWS * WIDTH],
    /// Largest scores.
    largest: [f32; ROWS],
    /// Sums of exponentials.
    total: [f32; ROWS],
    /// What sums so far are multiplied by.
    before: [f32; ROWS],
    /// The first key that a row sees, from the block's first.
    start: [f32; ROWS],
    /// The end of the keys that it sees.
    end: [f32; ROWS],
    /// One query.
    one: [f32; WIDTH],
}

/// A block of rows.
pub(super) struct Block<'a> {
    pub(super) call: &'a Call,
    pub(super) sequence: Sequence,
    /// The first row of the sequence.
    pub(super) first: usize,
    /// Queries of the sequence.
    pub(super) queries: usize,
    /// The head of keys.
    pub(super) head: usize,
    /// Which of the sequence's queries times the heads of the group.
    pub(super) rows: Range<usize>,
}

/// What is done with keys and values once they are widened: the same for all types, and so there once.
struct Step<'a> {
    block: &'a Block<'a>,
    room: *mut Room,
    n: usize,
    missing: u64,
    masked: bool,
}

impl SimdOp for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let Step { block, room, n, missing, masked } = self;
        // SAFETY: the clauses of `Block::take`, which alone makes one.
        unsafe {
            block.score(s, room, n);
            for key in (0..n).filter(|key| missing >> key & 1 != 0) {
                let scores = (&raw mut (*room).scores).cast::<f32>().add(key * ROWS);
                std::slice::from_raw_parts_mut(scores, ROWS).fill(f32::NEG_INFINITY);
            }
            block.exponentials(s, room, n, masked);
            block.weigh(s, room, n);
        }
    }
}

impl Block<'_> {
    /// The token and the head of a row of the block.
    #[inline(always)]
    fn place(&self, row: usize) -> (usize, usize) {
        let (group, at) = (self.call.heads.group(), self.rows.start + row);
        (at / group, self.head * group + at % group)
    }

    /// What a query of the sequence sees.
    #[inline(always)]
    fn seen(&self, query: usize) -> Range<usize> {
        self.call.scoring.seen(self.sequence.keys, self.queries - 1 - query)
    }

    /// Computes the block.
    ///
    /// # Safety
    /// - As for [`prefill`](super::prefill): the rows are those of the sequence, and the caller's.
    #[inline(always)]
    pub(super) unsafe fn run<S: Simd, T: Elem, U: Elem>(&self, s: S) {
        let mut room = MaybeUninit::<Room>::uninit();
        let room = room.as_mut_ptr();
        let n = self.rows.len();
        // SAFETY: the caller's clauses; whatever of the room is read has been written, up to whole vectors and strips.
        unsafe {
            self.prepare::<S, T, U>(s, room);
            let range = self.seen(self.place(0).0).start..self.seen(self.place(n - 1).0).end;
            let each = if self.call.heads.width.max(self.call.heads.width_v) > PANEL / KEYS { KEYS / 2 } else { KEYS };
            let mut key = range.start;
            while key < range.end {
                let keys = key..range.end.min(key + each);
                self.take::<S, T>(s, room, keys);
                key += each;
            }
            self.finish::<S, T, U>(s, room);
        }
    }

    /// Reads the queries; clears what is summed up.
    ///
    /// # Safety
    /// - As for [`Block::run`].
    #[inline(always)]
    unsafe fn prepare<S: Simd, T: Elem, U: Elem>(&self, s: S, room: *mut Room) {
        let (call, n) = (self.call, self.rows.len());
        let (width, width_v) = (call.heads.width, call.heads.width_v);
        // SAFETY: the caller's clause; a row is one of the room's.
        unsafe {
            let (q, one) = ((&raw mut (*room).q).cast::<f32>(), (&raw mut (*room).one).cast::<f32>());
            let scale = call.scoring.scale * call.keys.scales(self.head)[0];
            for row in 0..n {
                let (query, head) = self.place(row);
                read_query::<S, T, U>(s, call.q.at(self.first + query, head), scale, one, width);
                for i in 0..width {
                    q.add(i * ROWS + row).write(one.add(i).read());
                }
            }
            // Rows that are not there have queries of zero, and see nothing.
            for row in n..n.next_multiple_of(strip::<S>().max(S::LANES)) {
                for i in 0..width {
                    q.add(i * ROWS + row).write(0.0);
                }
            }
            (&raw mut (*room).largest).write([f32::NEG_INFINITY; ROWS]);
            (&raw mut (*room).total).write([0.0; ROWS]);
            let sums = (&raw mut (*room).sums).cast::<f32>();
            let mut i = 0;
            while i < n.next_multiple_of(strip::<S>()) * width_v {
                s.store_f32::<false>(sums.add(i), s.splat(0.0));
                i += S::LANES;
            }
        }
    }

    /// Takes some keys.
    ///
    /// # Safety
    /// - As for [`Block::run`], after [`Block::prepare`]; the keys are of the sequence, and as many as the room holds.
    #[inline(always)]
    unsafe fn take<S: Simd, T: Elem>(&self, s: S, room: *mut Room, keys: Range<usize>) {
        let n = keys.len();
        // SAFETY: the caller's clauses.
        unsafe {
            let missing = self.widen::<S, T>(s, room, keys.clone());
            let masked = self.limit(room, keys);
            s.run(Step { block: self, room, n, missing, masked });
        }
    }

    /// Widens keys and values, in pair order; answers for which keys there is no page.
    ///
    /// # Safety
    /// - As for [`Block::take`].
    #[inline(always)]
    unsafe fn widen<S: Simd, T: Elem>(&self, s: S, room: *mut Room, keys: Range<usize>) -> u64 {
        let (call, start, n) = (self.call, keys.start, keys.len());
        let (width, width_v) = (call.heads.width, call.heads.width_v);
        let k = call.keys.k.data.cast::<T>().wrapping_offset(self.head as isize * call.keys.k.head);
        let v = call.keys.v.data.cast::<T>().wrapping_offset(self.head as isize * call.keys.v.head);
        let mut missing = 0;
        // SAFETY: the caller's clauses: the places are those of keys that exist.
        unsafe {
            let (to_k, to_v) = ((&raw mut (*room).k).cast::<f32>(), (&raw mut (*room).v).cast::<f32>());
            call.keys.places(self.sequence, keys, |key, place| {
                let at = key - start;
                match place {
                    Some(place) => {
                        widen::<S, T>(s, k.offset(place.k), to_k.add(at * width), width);
                        widen::<S, T>(s, v.offset(place.v), to_v.add(at * width_v), width_v);
                    }
                    None => {
                        missing |= 1 << at;
                        std::slice::from_raw_parts_mut(to_k.add(at * width), width).fill(0.0);
                        std::slice::from_raw_parts_mut(to_v.add(at * width_v), width_v).fill(0.0);
                    }
                }
            });
            // Keys are multiplied strip by strip.
            let pad = (n.next_multiple_of(strip::<S>()) - n) * width;
            std::slice::from_raw_parts_mut(to_k.add(n * width).cast::<MaybeUninit<f32>>(), pad)
                .fill(MaybeUninit::new(0.0));
        }
        missing
    }

    /// Multiplies keys with queries.
    ///
    /// # Safety
    /// - As for [`Block::take`], after [`Block::widen`].
    #[inline(always)]
    unsafe fn score<S: Simd>(&self, s: S, room: *mut Room, n: usize) {
        let (width, rows) = (self.call.heads.width, self.rows.len());
        // SAFETY: the caller's clause.
        unsafe {
            let (q, k) = ((&raw const (*room).q).cast::<f32>(), (&raw const (*room).k).cast::<f32>());
            let scores = (&raw mut (*room).scores).cast::<f32>();
            let mut row = 0;
            while row < rows {
                let two = row + S::LANES < rows;
                let mut key = 0;
                while key < n {
                    let (k, q, to) = (k.add(key * width), q.add(row), scores.add(key * ROWS + row));
                    match (S::LANES >= 16, two) {
                        (true, true) => products::<S, 8, 2>(s, k, q, width, to),
                        (true, false) => products::<S, 8, 1>(s, k, q, width, to),
                        (false, true) => products::<S, 4, 2>(s, k, q, width, to),
                        (false, false) => products::<S, 4, 1>(s, k, q, width, to),
                    }
                    key += strip::<S>();
                }
                row += if two { 2 * S::LANES } else { S::LANES };
            }
        }
    }

    /// Notes what each row sees of some keys; answers whether any row does not see them all.
    ///
    /// # Safety
    /// - As for [`Block::take`].
    #[inline(always)]
    unsafe fn limit(&self, room: *mut Room, keys: Range<usize>) -> bool {
        let n = self.rows.len();
        let (first, last) = (self.seen(self.place(0).0), self.seen(self.place(n - 1).0));
        if first.end >= keys.end && last.start <= keys.start {
            return false;
        }
        let at = |key: usize| (key.clamp(keys.start, keys.end) - keys.start) as f32;
        // SAFETY: the caller's clause.
        unsafe {
            let (start, end) = ((&raw mut (*room).start).cast::<f32>(), (&raw mut (*room).end).cast::<f32>());
            for row in 0..ROWS {
                let seen = if row < n { self.seen(self.place(row).0) } else { 0..0 };
                start.add(row).write(at(seen.start));
                end.add(row).write(at(seen.end));
            }
        }
        true
    }

    /// Caps and masks scores, replaces them by exponentials, and keeps the totals.
    ///
    /// # Safety
    /// - As for [`Block::take`], after [`Block::score`], and [`Block::limit`] if `masked`.
    #[inline(always)]
    unsafe fn exponentials<S: Simd>(&self, s: S, room: *mut Room, n: usize, masked: bool) {
        let (least, none, one) = (s.splat(f32::MIN), s.splat(f32::NEG_INFINITY), s.splat(1.0));
        let rows = self.rows.len().next_multiple_of(S::LANES);
        // SAFETY: the caller's clauses.
        unsafe {
            let scores = (&raw mut (*room).scores).cast::<f32>();
            for key in 0..n {
                self.call.scoring.cap(s, scores.add(key * ROWS), rows);
            }
            let mut row = 0;
            while row < rows {
                let largest = (&raw mut (*room).largest).cast::<f32>().add(row);
                let total = (&raw mut (*room).total).cast::<f32>().add(row);
                let start = (&raw const (*room).start).cast::<f32>().add(row);
                let end = (&raw const (*room).end).cast::<f32>().add(row);
                let earlier = s.load_f32(largest);
                let mut most = earlier;
                for key in 0..n {
                    let at = scores.add(key * ROWS + row);
                    let mut score = s.load_f32(at);
                    if masked {
                        // A half between keys: the sign says on which side of it a row's end is.
                        let here = s.splat(key as f32 + 0.5);
                        score = s.select_sign(s.sub(here, s.load_f32(end)), score, none);
                        score = s.select_sign(s.sub(s.load_f32(start), here), score, none);
                        s.store_f32::<false>(at, score);
                    }
                    most = s.max(score, most);
                }
                // Of a row that has no score yet, differences stay those of -infinity.
                let base = s.max(least, most);
                let before = times_exp(s, one, s.sub(earlier, base));
                let mut sum = s.splat(0.0);
                for key in 0..n {
                    let at = scores.add(key * ROWS + row);
                    let weight = times_exp(s, one, s.sub(s.load_f32(at), base));
                    s.store_f32::<false>(at, weight);
                    sum = s.add(sum, weight);
                }
                s.store_f32::<false>(largest, most);
                s.store_f32::<false>(total, s.fma(s.load_f32(total), before, sum));
                s.store_f32::<false>((&raw mut (*room).before).cast::<f32>().add(row), before);
                row += S::LANES;
            }
        }
    }

    /// Adds weighted values to the sums.
    ///
    /// # Safety
    /// - As for [`Block::take`], after [`Block::exponentials`].
    #[inline(always)]
    unsafe fn weigh<S: Simd>(&self, s: S, room: *mut Room, n: usize) {
        let (width, rows) = (self.call.heads.width_v, self.rows.len());
        // SAFETY: the caller's clauses; strips end where the room does.
        unsafe {
            let (v, weights) = ((&raw const (*room).v).cast::<f32>(), (&raw const (*room).scores).cast::<f32>());
            let (sums, before) = ((&raw mut (*room).sums).cast::<f32>(), (&raw const (*room).before).cast::<f32>());
            let mut column = 0;
            while column < width {
                let two = column + 2 * S::LANES <= width;
                let mut row = 0;
                while row < rows {
                    let (sums, before) = (sums.add(row * width + column), before.add(row));
                    let (v, weights) = (v.add(column), weights.add(row));
                    match (S::LANES >= 16, two) {
                        (true, true) => weighted::<S, 8, 2>(s, weights, v, n, width, before, sums),
                        (true, false) => weighted::<S, 8, 1>(s, weights, v, n, width, before, sums),
                        (false, true) => weighted::<S, 4, 2>(s, weights, v, n, width, before, sums),
                        (false, false) => weighted::<S, 4, 1>(s, weights, v, n, width, before, sums),
                    }
                    row += strip::<S>();
                }
                column += if two { 2 * S::LANES } else { S::LANES };
            }
        }
    }

    /// Writes the results.
    ///
    /// # Safety
    /// - As for [`Block::run`], after all keys.
    #[inline(always)]
    unsafe fn finish<S: Simd, T: Elem, U: Elem>(&self, s: S, room: *mut Room) {
        let width = self.call.heads.width_v;
        // SAFETY: the caller's clauses.
        unsafe {
            for row in 0..self.rows.len() {
                let (query, head) = self.place(row);
                let values = (&raw const (*room).sums).cast::<f32>().add(row * width);
                let largest = (&raw const (*room).largest).cast::<f32>().add(row).read();
                let sum = (&raw const (*room).total).cast::<f32>().add(row).read();
                let (mut finite, mut i) = (sum.is_finite(), 0);
                while i < width {
                    finite &= s.all_below(s.load_f32(values.add(i)), f32::INFINITY);
                    i += S::LANES;
                }
                let heads = head..head + 1;
                if finite {
                    let totals = [Total { largest, sum }];
                    self.call.write_results::<S, T, U>(s, self.first + query, heads, &totals, values);
                } else {
                    // A value that the row does not see may be NaN, and zero times it too: once more, without such values.
                    self.call.one::<S, T, U>(s, self.first + query, heads, self.sequence, self.seen(query));
                }
            }
        }
    }
}

/// Keys, or rows, that share the loads of a matrix product: what registers there are.
const fn strip<S: Simd>() -> usize {
    if S::LANES >= 16 { 8 } else { 4 }
}

/// Widens `width` elements, in pair order.
///
/// # Safety
/// - `from` is valid to read and `to` to write that many, a multiple of the vector.
#[inline(always)]
unsafe fn widen<S: Simd, T: Elem>(s: S, from: *const T, to: *mut f32, width: usize) {
    let mut i = 0;
    // SAFETY: the caller's clause.
    unsafe {
        while i + 2 * S::LANES <= width {
            let pair = T::load_pair(s, from.add(i));
            s.store_f32::<false>(to.add(i), pair[0]);
            s.store_f32::<false>(to.add(i + S::LANES), pair[1]);
            i += 2 * S::LANES;
        }
        if i < width {
            s.store_f32::<false>(to.add(i), T::load(s, from.add(i)));
        }
    }
}

/// The products of K keys with V vectors of rows.
///
/// # Safety
/// - `k` has K keys of `width` features, `q` as many rows of [`ROWS`] queries, of which V vectors are read; `to` has K rows.
#[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
#[inline(always)]
unsafe fn products<S: Simd, const K: usize, const V: usize>(
    s: S,
    k: *const f32,
    q: *const f32,
    width: usize,
    to: *mut f32,
) {
    let mut sums = [[s.splat(0.0); V]; K];
    // SAFETY: the caller's clauses.
    unsafe {
        for i in 0..width {
            let mut rows = [s.splat(0.0); V];
            for (n, rows) in rows.iter_mut().enumerate() {
                *rows = s.load_f32(q.add(i * ROWS + n * S::LANES));
            }
            for key in 0..K {
                let feature = s.splat(k.add(key * width + i).read());
                for n in 0..V {
                    sums[key][n] = s.fma(feature, rows[n], sums[key][n]);
                }
            }
        }
        for key in 0..K {
            for n in 0..V {
                s.store_f32::<false>(to.add(key * ROWS + n * S::LANES), sums[key][n]);
            }
        }
    }
}

/// R rows of V vectors of columns: the sums so far times what is `before`, and `keys` weighted values.
///
/// # Safety
/// - `weights` has rows of [`ROWS`] for each key, `v` rows of `width` columns, `sums` R such rows, `before` R factors.
#[expect(clippy::needless_range_loop, reason = "registers by number, unrolled")]
#[inline(always)]
unsafe fn weighted<S: Simd, const R: usize, const V: usize>(
    s: S,
    weights: *const f32,
    v: *const f32,
    keys: usize,
    width: usize,
    before: *const f32,
    sums: *mut f32,
) {
    let mut all = [[s.splat(0.0); V]; R];
    // SAFETY: the caller's clauses.
    unsafe {
        for row in 0..R {
            let before = s.splat(before.add(row).read());
            for n in 0..V {
                all[row][n] = s.mul(s.load_f32(sums.add(row * width + n * S::LANES)), before);
            }
        }
        for key in 0..keys {
            let mut columns = [s.splat(0.0); V];
            for (n, columns) in columns.iter_mut().enumerate() {
                *columns = s.load_f32(v.add(key * width + n * S::LANES));
            }
            for row in 0..R {
                let weight = s.splat(weights.add(key * ROWS + row).read());
                for n in 0..V {
                    all[row][n] = s.fma(weight, columns[n], all[row][n]);
                }
            }
        }
        for row in 0..R {
            for n in 0..V {
                s.store_f32::<false>(sums.add(row * width + n * S::LANES), all[row][n]);
            }
        }
    }
}
