// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How rows meet memory: what is written past the caches, what is fetched ahead, and loads and stores that end with their
//! row.

use crate::rows::Rows;
use crate::simd::{Elem, Simd, last_level_cache};

/// Bytes of a cache line of every processor here. Prefetches go by it; what is streamed byte by byte is aligned to it.
pub(crate) const CACHE_LINE: usize = 64;

/// Whether `rows` rows of `row_bytes` bytes would not stay in the caches anyway, so that an output of that size is better
/// written past them.
pub(crate) fn exceeds_caches(rows: usize, row_bytes: usize) -> bool {
    rows.saturating_mul(row_bytes) >= last_level_cache()
}

/// [`exceeds_caches`] of an output that may be one of its inputs: their lines are then there to be overwritten.
pub(crate) fn streams(rows: usize, row_bytes: usize, out: Rows, inputs: &[Rows]) -> bool {
    exceeds_caches(rows, row_bytes) && inputs.iter().all(|input| input.data != out.data)
}

/// Whether vectors of `T` from `out` on can be written past the caches: [`Elem::store`] wants them aligned then.
#[inline(always)]
pub(crate) fn is_vector_aligned<S: Simd, T>(out: *const T) -> bool {
    S::STREAMS && (out as usize).is_multiple_of(S::LANES * size_of::<T>())
}

/// Reads `S::LANES` elements if `FULL`, else the first `n`, with zeros after them.
///
/// # Safety
/// - `p` is valid for reading that many elements; `n < S::LANES` unless `FULL`.
#[inline(always)]
pub(crate) unsafe fn load<S: Simd, T: Elem, const FULL: bool>(s: S, p: *const T, n: usize) -> S::F32 {
    // SAFETY: the caller's clause.
    unsafe { if FULL { T::load(s, p) } else { T::load_tail(s, p, n) } }
}

/// [`load`] of `n` elements: for a loop whose last turn is the end of the row, where its body is too much code for two.
///
/// # Safety
/// - `p` is valid for reading `n <= S::LANES` elements.
#[inline(always)]
pub(crate) unsafe fn load_some<S: Simd, T: Elem>(s: S, p: *const T, n: usize) -> S::F32 {
    // SAFETY: the caller's clause.
    unsafe { if n == S::LANES { load::<S, T, true>(s, p, n) } else { load::<S, T, false>(s, p, n) } }
}

/// Writes `S::LANES` elements if `FULL`, past the caches with `stream`, else the first `n`.
///
/// # Safety
/// - `p` is valid for writing that many elements; `n < S::LANES` unless `FULL`; the clauses of [`Elem::store`] for `stream`.
#[inline(always)]
pub(crate) unsafe fn store<S: Simd, T: Elem, const FULL: bool>(s: S, p: *mut T, n: usize, v: S::F32, stream: bool) {
    // SAFETY: the caller's clauses.
    unsafe {
        match (FULL, stream) {
            (true, true) => T::store::<S, true>(s, p, v),
            (true, false) => T::store::<S, false>(s, p, v),
            (false, _) => T::store_tail(s, p, n, v),
        }
    }
}

/// [`store`] of `n` elements, as [`load_some`] reads them.
///
/// # Safety
/// - `p` is valid for writing `n <= S::LANES` elements; the clauses of [`Elem::store`] for `stream`.
#[inline(always)]
pub(crate) unsafe fn store_some<S: Simd, T: Elem>(s: S, p: *mut T, n: usize, v: S::F32, stream: bool) {
    // SAFETY: the caller's clauses.
    unsafe {
        if n == S::LANES {
            store::<S, T, true>(s, p, n, v, stream);
        } else {
            store::<S, T, false>(s, p, n, v, stream);
        }
    }
}

/// Writes two vectors in pair order, past the caches with `stream`.
///
/// # Safety
/// - `p` is valid for writing twice `S::LANES` elements; the clauses of [`Elem::store`] for `stream`.
#[inline(always)]
pub(crate) unsafe fn store_two<S: Simd, T: Elem>(s: S, p: *mut T, v: [S::F32; 2], stream: bool) {
    // SAFETY: the caller's clauses.
    unsafe { if stream { T::store_pair::<S, true>(s, p, v) } else { T::store_pair::<S, false>(s, p, v) } }
}

/// Bytes of a page, within which processors fetch by themselves.
const PAGE: usize = 4 << 10;

/// Asks for `bytes` bytes at `p`, which may be any address, at one of the steps of that size in which a loop goes over what will be read.
///
/// Where [`Simd::follows_pages`], that is a line of the first quarter of the page, so that the steps over a page ask for that quarter.
#[inline(always)]
pub(crate) fn prefetch_step<S: Simd>(s: S, p: *const u8, bytes: usize) {
    if s.follows_pages() {
        if let Some(line) = line_to_begin(p, bytes) {
            s.prefetch(line);
        }
        return;
    }
    for line in (0..bytes).step_by(CACHE_LINE) {
        s.prefetch(p.wrapping_add(line));
    }
}

/// The line of the first quarter of `p`'s page whose turn it is at a step of `bytes` bytes, if it is that of one.
#[inline(always)]
fn line_to_begin(p: *const u8, bytes: usize) -> Option<*const u8> {
    let within = p as usize % PAGE;
    (within % (4 * CACHE_LINE) < bytes).then(|| p.wrapping_sub(within - within / 4))
}

/// [`prefetch_step`] of what lies so far behind `p` that it is on another page, where the processor begins no page in time by itself but goes on with
/// one that was begun. Elsewhere nothing is asked for.
#[inline(always)]
pub(crate) fn begin_pages<S: Simd>(s: S, p: *const u8, bytes: usize) {
    if s.follows_pages() {
        prefetch_step(s, p.wrapping_add(2 * PAGE), bytes);
    }
}

/// Asks for the lines of two vectors of `T` at `p`, which may be any address.
#[inline(always)]
pub(crate) fn prefetch_two<S: Simd, T>(s: S, p: *const T) {
    s.prefetch(p.cast());
    // Two vectors of 512 bits of f32 are two lines.
    if const { 2 * S::LANES * size_of::<T>() > CACHE_LINE } {
        s.prefetch(p.wrapping_add(S::LANES).cast());
    }
}

/// Where to ask for what a short run at `p` needs, which lies within a page: at `p`; where [`Simd::follows_pages`], as far in the first
/// half of its page as half of `p`, so that the runs of a page ask for that half by [`prefetch_half`]. Of what is read in short runs,
/// processors follow less by themselves than of rows.
#[inline(always)]
pub(crate) fn run_to_ask<S: Simd, T>(s: S, p: *const T) -> *const T {
    if s.follows_pages() { half_to_begin(p.cast()).cast() } else { p }
}

/// The place in the first half of `p`'s page.
#[inline(always)]
fn half_to_begin(p: *const u8) -> *const u8 {
    let within = p as usize % PAGE;
    p.wrapping_sub(within - within / 2)
}

/// Asks for the line that lies half as far from `p` as element `i`, once for each: a pass of a row that calls this at every
/// two vectors fetches the first half of `p`'s. Two passes that do so spread the traffic of the next row over both.
#[inline(always)]
pub(crate) fn prefetch_half<S: Simd, T>(s: S, p: *const T, i: usize) {
    // Two vectors are two lines at most.
    if (i / 2 * size_of::<T>()).is_multiple_of(CACHE_LINE) {
        s.prefetch(p.wrapping_add(i / 2).cast());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_over_a_page_ask_for_each_line_of_its_first_quarter_once() {
        for bytes in [CACHE_LINE, 2 * CACHE_LINE, 4 * CACHE_LINE] {
            // Rows begin anywhere in a line, and their steps then do too.
            for start in [0, 2, 32, 60] {
                let page = std::ptr::without_provenance::<u8>(7 * PAGE);
                let steps = (start..PAGE).step_by(bytes).filter_map(|at| line_to_begin(page.wrapping_add(at), bytes));
                let lines: Vec<usize> = steps.map(|line| (line as usize - 7 * PAGE) / CACHE_LINE).collect();
                assert_eq!(lines, (0..PAGE / 4 / CACHE_LINE).collect::<Vec<_>>(), "steps of {bytes} from {start}");
            }
        }
    }

    #[test]
    fn the_runs_of_a_page_ask_for_each_line_of_its_first_half_once() {
        let page = std::ptr::without_provenance::<u8>(7 * PAGE);
        for run in [2 * CACHE_LINE, 4 * CACHE_LINE, 8 * CACHE_LINE] {
            // As `prefetch_half` does: half of a run's lines, from where the run is to ask.
            let lines: Vec<usize> = (0..PAGE)
                .step_by(run)
                .flat_map(|at| {
                    let from = half_to_begin(page.wrapping_add(at)) as usize - 7 * PAGE;
                    (0..run / 2).step_by(CACHE_LINE).map(move |line| (from + line) / CACHE_LINE)
                })
                .collect();
            assert_eq!(lines, (0..PAGE / 2 / CACHE_LINE).collect::<Vec<_>>(), "runs of {run}");
        }
    }
}
