// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tiles: some rows times a run of some panels, with the sums in registers.

use super::{PANEL, UNIT};
use crate::memory::CACHE_LINE;
use crate::simd::{Elem, Simd};

/// A run of one panel, or of as many that lie `pitch` elements apart.
#[derive(Clone, Copy)]
pub(super) struct Run<T> {
    /// The first line.
    pub(super) lines: *const T,
    /// Lines.
    pub(super) len: usize,
    /// From a panel to the next.
    pub(super) pitch: usize,
    /// How many bytes behind each line lies what is read later; 0 for what is not to be fetched.
    pub(super) ahead: isize,
    /// Whether that is read so soon that it is fetched as far as the first cache.
    pub(super) soon: bool,
}

/// The most rows for which two panels are multiplied at once: alone, they would wait for their few sums.
pub(super) const FEW: usize = 4;

/// Adds the products of `tokens` rows and a run of `PANELS` panels to `sums`: one sum for each, from zero.
///
/// # Safety
/// - `x` is valid for reading `run.len` numbers of each row, rows being [`UNIT`] apart; the run for that many lines of packed
///   panels; `sums` for writing, for each panel, a line of [`PANEL`] for each row.
#[inline(always)]
pub(super) unsafe fn run<S: Simd, T: Elem, const PANELS: usize>(
    s: S,
    (x, tokens): (*const f32, usize),
    run: Run<T>,
    sums: *mut f32,
) {
    let mut done = 0;
    // Tiles share the lines to be fetched: all of them at once would keep the first tile waiting.
    let whole = if S::LANES == 16 { 12 } else { S::LANES.min(6) };
    let (shares, mut share) = (1 << (tokens / whole).max(1).ilog2(), 0);
    macro_rules! tiles {
        ($($rows:literal $(by $pairs:literal)?)*) => { $(
            while tokens - done >= $rows {
                let ahead = if share < shares { run.ahead } else { 0 };
                // SAFETY: the caller's clauses: these rows are among them.
                unsafe {
                    let (x, sums) = (x.add(done * UNIT), sums.add(done * PANEL));
                    tile::<S, T, $rows, PANELS, { 1 $(* $pairs)? }>(s, x, (Run { ahead, ..run }, share, shares), (sums, tokens * PANEL));
                }
                done += $rows;
                share += 1;
            }
        )* };
    }
    // As many as leave registers for a line of the weight. A row alone takes all of a line at once, so that a weight is read once.
    if const { S::LANES == 16 && PANELS == 1 } {
        tiles!(12 8 4 2 1);
    } else if const { S::LANES == 8 && PANELS == 1 } {
        tiles!(6 4 2 1 by 2);
    } else if const { S::LANES == 16 } {
        tiles!(4 2 1);
    } else if const { S::LANES == 8 } {
        tiles!(2 1 by 2);
    } else {
        tiles!(4 1);
    }
}

/// [`run`] for so many rows, which fetches one of `shares` of the lines, a power of two, and takes `PAIRS` pairs of vectors of a line at a time; the sums of a panel lie `pitch` after those of the one before.
///
/// # Safety
/// - As for [`run`].
#[inline(always)]
unsafe fn tile<S: Simd, T: Elem, const ROWS: usize, const PANELS: usize, const PAIRS: usize>(
    s: S,
    x: *const f32,
    (run, share, shares): (Run<T>, usize, usize),
    (sums, pitch): (*mut f32, usize),
) {
    for first in (0..PANEL / (2 * S::LANES)).step_by(PAIRS) {
        let mut acc = [[[[s.splat(0.0); 2]; PAIRS]; PANELS]; ROWS];
        for k in 0..run.len {
            // SAFETY: the caller's clauses: line `k` of the run in each panel, element `k` of each row. What is fetched ahead may
            // be anywhere.
            unsafe {
                let mut w = [[[s.splat(0.0); 2]; PAIRS]; PANELS];
                for (panel, w) in w.iter_mut().enumerate() {
                    let line = run.lines.add(panel * run.pitch + k * PANEL);
                    if run.ahead != 0 && first == 0 && k & (shares - 1) == share {
                        for byte in (0..PANEL * size_of::<T>()).step_by(CACHE_LINE) {
                            let later = line.cast::<u8>().wrapping_offset(run.ahead).wrapping_add(byte);
                            if run.soon { s.prefetch_near(later) } else { s.prefetch(later) }
                        }
                    }
                    for (pair, w) in w.iter_mut().enumerate() {
                        *w = T::load_pair(s, line.add((first + pair) * 2 * S::LANES));
                    }
                }
                for (row, acc) in acc.iter_mut().enumerate() {
                    let x = s.splat(*x.add(row * UNIT + k));
                    for (acc, w) in acc.as_flattened_mut().iter_mut().zip(w.as_flattened()) {
                        acc[0] = s.fma(x, w[0], acc[0]);
                        acc[1] = s.fma(x, w[1], acc[1]);
                    }
                }
            }
        }
        for (row, acc) in acc.into_iter().enumerate() {
            for (panel, acc) in acc.into_iter().enumerate() {
                for (pair, acc) in acc.into_iter().enumerate() {
                    // SAFETY: the row's line of this panel.
                    unsafe { add(s, sums.add(panel * pitch + row * PANEL), first + pair, acc) };
                }
            }
        }
    }
}

/// Adds a pair of vectors to a line of sums.
///
/// # Safety
/// - `line` is valid for writing [`PANEL`] sums.
#[inline(always)]
pub(super) unsafe fn add<S: Simd>(s: S, line: *mut f32, pair: usize, acc: [S::F32; 2]) {
    for (half, acc) in acc.into_iter().enumerate() {
        // SAFETY: the caller's clause: a vector of the line.
        unsafe {
            let sum = line.add((2 * pair + half) * S::LANES);
            s.store_f32::<false>(sum, s.add(s.load_f32(sum), acc));
        }
    }
}
