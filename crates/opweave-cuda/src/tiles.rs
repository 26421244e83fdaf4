// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows whose elements share nothing, cut into tiles: a block for each. No choice changes a bit of a result.

/// Lanes of a warp.
const WARP: u64 = 32;
/// Threads of a block at most.
const MAX_BLOCK: u64 = 512;
/// Threads that a multiprocessor holds, about: below it, more accesses in a thread only leave others idle.
const RESIDENT: u64 = 2048;
/// Elements of each thread in entries for any width.
pub(crate) const ELEMENTS: u64 = 4;

/// How a row is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    /// Accesses of each thread.
    pub(crate) per_thread: u64,
    pub(crate) threads: u64,
    /// Blocks along a row.
    pub(crate) tiles: u64,
}

impl Cut {
    /// Blocks of a launch of `rows` rows; where a grid holds fewer, they take more than one tile.
    #[inline]
    pub(crate) fn blocks(&self, rows: u64) -> u32 {
        rows.saturating_mul(self.tiles).min(i32::MAX as u64) as u32
    }
}

/// The cut of `rows` rows of `vectors` vectors: `many` in each thread where there is work for all, else one, in blocks so
/// small that every multiprocessor has some.
#[inline]
pub(crate) fn vectors(multiprocessors: u64, rows: u64, vectors: u64, many: u64) -> Cut {
    let of_each = rows.saturating_mul(vectors) / multiprocessors;
    if of_each >= RESIDENT {
        cut(vectors, many, MAX_BLOCK)
    } else {
        cut(vectors, 1, of_each.next_power_of_two().clamp(2 * WARP, MAX_BLOCK / 2))
    }
}

/// The cut of rows of `width` elements that are no vectors.
#[inline]
pub(crate) fn elements(width: u64) -> Cut {
    cut(width, ELEMENTS, MAX_BLOCK / 2)
}

/// As few tiles of at most `most` threads as a row of `units` takes, all of about the same size.
#[inline]
fn cut(units: u64, per_thread: u64, most: u64) -> Cut {
    let tiles = units.div_ceil(per_thread * most);
    let threads = units.div_ceil(per_thread * tiles).next_multiple_of(WARP);
    Cut { per_thread, threads, tiles: units.div_ceil(per_thread * threads) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_row_and_none_is_empty() {
        for rows in [1, 3, 64, 512, 4096, 1 << 24] {
            for units in (1..3000).chain([1 << 20, (1 << 30) - 1, 1 << 30]) {
                for cut in [vectors(132, rows, units, 2), vectors(132, rows, units, 4), elements(units)] {
                    let Cut { per_thread, threads, tiles } = cut;
                    let tile = per_thread * threads;
                    assert!(tiles * tile >= units && (tiles - 1) * tile < units, "{rows} {units}: {tiles} x {tile}");
                    assert!(threads.is_multiple_of(WARP) && (WARP..=MAX_BLOCK).contains(&threads));
                    // Within a row the kernels count in 32 bits.
                    assert!(tiles * tile < 1 << 32);
                }
            }
        }
    }

    #[test]
    fn few_rows_reach_many_multiprocessors_and_many_rows_fill_their_blocks() {
        let row = 14336 / 8;
        assert_eq!(vectors(132, 1, row, 2), Cut { per_thread: 1, threads: 64, tiles: 28 });
        assert_eq!(vectors(132, 64, row, 2), Cut { per_thread: 1, threads: 256, tiles: 7 });
        assert_eq!(vectors(132, 4096, row, 2), Cut { per_thread: 2, threads: 448, tiles: 2 });
    }
}
