// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Blocks: `x` threads along a head, `y` over the heads of a token, which several blocks may share.

/// Lanes of a warp.
pub(super) const WARP: u64 = 32;
/// Threads of a block that are aimed at where there is little to do, so that it is spread.
const SMALL_BLOCK: u64 = 128;

/// How a token's heads are shared out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    pub(super) x: u64,
    pub(super) y: u64,
    /// Blocks of a token.
    pub(super) parts: u64,
}

/// Threads along a head of `units` units: no more than there are, if whole warps can be made of that.
pub(super) fn along(units: u64, max_block: u64) -> u64 {
    if units * rows_of(units) <= max_block / 2 { units } else { units.next_multiple_of(WARP).min(max_block / 4) }
}

/// The fewest rows of `x` threads that are whole warps.
fn rows_of(x: u64) -> u64 {
    WARP / (1 << x.trailing_zeros().min(WARP.trailing_zeros()))
}

impl Shape {
    /// For few tokens: each thread has at most one head, with as few threads idle as may be.
    pub(super) fn spread(x: u64, heads: u64, max_block: u64) -> Shape {
        let rows = rows_of(x);
        let choices = (1..=max_block / (x * rows)).map(|n| n * rows);
        let cost = |y: &u64| (heads.div_ceil(*y) * y - heads, (x * y).abs_diff(SMALL_BLOCK));
        let y = choices.min_by_key(cost).unwrap_or(rows);
        Shape { x, y, parts: heads.div_ceil(y) }
    }

    /// For many tokens: one block to a token, `each` heads to a thread, or more if that were too many threads.
    pub(super) fn whole(x: u64, heads: u64, each: u64, max_block: u64) -> Shape {
        let rows = rows_of(x);
        let most = (max_block / (x * rows)).max(1) * rows;
        Shape { x, y: heads.div_ceil(each).next_multiple_of(rows).min(most), parts: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_warps_within_their_bound_and_parts_cover_all_heads() {
        for max_block in [256, 512] {
            for units in (1..=70).chain([128, 255, 1000, 32768]) {
                let x = along(units, max_block);
                for heads in [1, 2, 3, 8, 9, 40, 72, 129, 2000] {
                    for shape in [Shape::spread(x, heads, max_block), Shape::whole(x, heads, 2, max_block)] {
                        let threads = shape.x * shape.y;
                        assert!(threads.is_multiple_of(WARP) && threads <= max_block, "{units} {heads}: {shape:?}");
                        assert!(shape.parts == 1 || shape.parts * shape.y >= heads, "{units} {heads}: {shape:?}");
                    }
                    let spread = Shape::spread(x, heads, max_block);
                    assert!(spread.parts * spread.y >= heads, "{units} {heads}: {spread:?}");
                }
            }
        }
    }

    #[test]
    fn the_heads_of_a_common_model_leave_no_thread_idle() {
        assert_eq!(Shape::spread(8, 40, 512), Shape { x: 8, y: 20, parts: 2 });
        assert_eq!(Shape::whole(8, 40, 2, 512), Shape { x: 8, y: 20, parts: 1 });
    }
}
