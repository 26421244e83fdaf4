// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One row written while the statistic of the next is taken.
//!
//! A pass that takes sums writes nothing, and one that writes waits for what it reads: where rows come from memory and go past
//! the caches, a loop that does both keeps memory busy throughout. Sums are added in the same order as by a pass of their own,
//! so that a row's bits do not tell how it was summed.

use opweave_tensor::DType;

use super::SUM_BLOCK;
use crate::memory::prefetch_step;
use crate::rows::Rows;
use crate::simd::{Elem, MAX_LANES, Simd};

/// Whether one loop for both is worth it. Where sixteen registers have to hold what rounds to bf16 by integers as well, it is a fifth slower
/// than a pass for each.
pub(super) const fn pays<S: Simd, T: Elem>() -> bool {
    S::STREAMS && (S::LANES == MAX_LANES || !matches!(T::DTYPE, DType::BF16))
}

/// A row that is being written. Columns are in steps of four vectors, and the end of the row.
pub(super) trait Write<S: Simd>: Copy {
    /// Writes twice `S::LANES` columns from `i` on.
    ///
    /// # Safety
    /// - They are within the row.
    unsafe fn pair(&self, s: S, i: usize);

    /// Writes columns `i..end`, fewer than twice `S::LANES`, at the end of the row.
    ///
    /// # Safety
    /// - They are within the row.
    unsafe fn end(&self, s: S, i: usize, end: usize);

    /// Asks for what is read to write four vectors from column `i` on in later rows, as far ahead as [`Ahead`] says, where
    /// nobody else has read it.
    #[inline(always)]
    fn fetch(&self, _s: S, _i: usize, _ahead: Ahead) {}
}

/// A row whose statistic is taken.
pub(super) trait Look<S: Simd>: Copy {
    /// Whether four vectors are taken at a time, by [`Look::four`]. Where one is much code, and so slow that its additions never wait, they are not.
    const FOURS: bool = true;
    /// Sums within a block of columns, vectors of f32.
    type Sums: Copy;
    /// Sums of a row.
    type Total: Copy + Default;

    /// Sums of nothing.
    fn none(&self, s: S) -> Self::Sums;

    /// `sums` with four vectors from column `i` on.
    ///
    /// # Safety
    /// - They are within the row.
    unsafe fn four(&self, s: S, i: usize, sums: Self::Sums) -> Self::Sums;

    /// `total` with a block: with its `sums`, and with columns `i..end`, which are left of it.
    ///
    /// # Safety
    /// - The columns are within the row.
    unsafe fn block(&self, s: S, range: (usize, usize), sums: Self::Sums, total: Self::Total) -> Self::Total;

    /// Asks for half of a row, from column `from` on, as [`crate::memory::prefetch_half`] does at every two vectors.
    fn fetch_half(&self, s: S, from: usize, i: usize);

    /// Asks for four vectors of a later row: those from column `i` on, as far ahead as `ahead` says.
    fn fetch(&self, s: S, i: usize, ahead: Ahead);
}

/// How many bytes after what is read memory is asked for.
#[derive(Clone, Copy)]
pub(super) struct Ahead(usize);

/// On another page of 4 KiB than what is read, where the processor's own fetching is not disturbed.
const AHEAD: usize = 8 << 10;

impl Ahead {
    /// For rows of `width` columns of all `inputs`. Where there are gaps between rows, what lies ahead is not read: then the
    /// processor's own fetching has to do.
    pub(super) fn of(width: usize, inputs: &[Rows]) -> Ahead {
        Ahead(if inputs.iter().all(|input| input.stride == width as isize) { AHEAD } else { 0 })
    }

    /// Asks for four vectors of `T` that far after `p`.
    #[inline(always)]
    pub(super) fn fetch_four<S: Simd, T>(self, s: S, p: *const T) {
        prefetch_step(s, p.cast::<u8>().wrapping_add(self.0), 4 * S::LANES * size_of::<T>());
    }
}

/// The statistic of a row of `width` columns, by a pass that does nothing else. With `next`, the first half of that row is
/// fetched meanwhile.
///
/// # Safety
/// - The columns are within the row.
#[inline(always)]
pub(super) unsafe fn total<S: Simd, L: Look<S>>(s: S, look: L, width: usize, next: Option<L>) -> L::Total {
    let (mut total, mut i) = (L::Total::default(), 0);
    while i < width {
        let end = width.min(i + SUM_BLOCK);
        let mut sums = look.none(s);
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            while L::FOURS && i + 4 * S::LANES <= end {
                if let Some(next) = next {
                    next.fetch_half(s, 0, i);
                    next.fetch_half(s, 0, i + 2 * S::LANES);
                }
                sums = look.four(s, i, sums);
                i += 4 * S::LANES;
            }
            total = look.block(s, (i, end), sums, total);
        }
        i = end;
    }
    total
}

/// Writes a row of `width` columns. With `next`, the second half of that row is fetched meanwhile.
///
/// # Safety
/// - The columns are within the row.
#[inline(always)]
pub(super) unsafe fn write<S: Simd, W: Write<S>, L: Look<S>>(s: S, row: W, width: usize, next: Option<L>) {
    let mut i = 0;
    // SAFETY: the caller's clause, by the loop's bound.
    unsafe {
        while i + 2 * S::LANES <= width {
            if let Some(next) = next {
                next.fetch_half(s, width / 2, i);
            }
            row.pair(s, i);
            i += 2 * S::LANES;
        }
        row.end(s, i, width);
    }
}

/// [`write`] of one row and [`total`] of another in one loop.
///
/// # Safety
/// - `width` columns are within either row.
#[inline(always)]
pub(super) unsafe fn write_and_total<S: Simd, W: Write<S>, L: Look<S>>(
    s: S,
    row: W,
    look: L,
    width: usize,
    ahead: Ahead,
) -> L::Total {
    let (mut total, mut i) = (L::Total::default(), 0);
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i < width {
            let end = width.min(i + SUM_BLOCK);
            let mut sums = look.none(s);
            while i + 4 * S::LANES <= end {
                look.fetch(s, i, ahead);
                row.fetch(s, i, ahead);
                sums = look.four(s, i, sums);
                row.pair(s, i);
                row.pair(s, i + 2 * S::LANES);
                i += 4 * S::LANES;
            }
            total = look.block(s, (i, end), sums, total);
            while i + 2 * S::LANES <= end {
                row.pair(s, i);
                i += 2 * S::LANES;
            }
            // Blocks are whole vectors: this is the end of the row or nothing.
            row.end(s, i, end);
            i = end;
        }
    }
    total
}
