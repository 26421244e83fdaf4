// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How much of a row fits into the unified buffer of a core.

use opweave_tensor::DType;

/// Bytes of the unified buffer that kernels plan with: 192 KiB on Atlas A2, of which some are left for what the runtime may
/// take and for the small buffers that do not depend on the tile.
pub(crate) const BUDGET: u64 = 186 * 1024;

/// Elements of a tile that must be a whole number of: a repeat of f32, and blocks of every dtype.
const GRAIN: u64 = 64;

/// Bytes of an element.
#[inline]
pub(crate) fn bytes(dtype: DType) -> u64 {
    (dtype.bits() / 8) as u64
}

/// Elements of a tile where each takes `each` bytes in all buffers together, for rows of `width`: the row, where it fits.
pub(crate) fn tile(width: usize, each: u64) -> u32 {
    let most = BUDGET / each / GRAIN * GRAIN;
    (width as u64).next_multiple_of(GRAIN).min(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_the_row_where_it_fits_and_never_more_than_there_is_room_for() {
        for each in [18, 20, 26, 34, 40] {
            for width in [1, 63, 64, 65, 4096, 7168, 18944, 1 << 30] {
                let tile = u64::from(tile(width, each));
                assert!(tile.is_multiple_of(GRAIN) && tile * each <= BUDGET && tile >= GRAIN, "{width} {each}: {tile}");
                assert!(tile >= width as u64 || (tile + GRAIN) * each > BUDGET, "{width} {each}: {tile}");
            }
        }
    }
}
