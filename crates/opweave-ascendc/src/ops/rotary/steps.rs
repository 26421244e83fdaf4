// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How many pairs and heads a core turns at a time.

use opweave_tensor::DType;

use crate::tiles::{BUDGET, bytes};

/// Pairs at most: rows of them are then at most 255 blocks of f32 apart, the widest step of a repeated vector instruction.
const MOST_PAIRS: u64 = 1008;
/// Heads at most: repeats of a vector instruction.
const MOST_HEADS: u64 = 255;
/// Bytes for positions and faults.
const FIXED: u64 = 512 * 8 + 64;

/// What is turned at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Steps {
    pub(super) pairs: u32,
    /// Heads, where rows of them are not too far apart.
    pub(super) heads: u32,
}

/// Elements of the rows that hold `pairs` pairs of a head: whole blocks.
fn elements(dtype: DType, pairs: u64, interleaved: bool) -> u64 {
    let block = 32 / bytes(dtype);
    if interleaved { (2 * pairs).next_multiple_of(block) } else { 2 * pairs.next_multiple_of(block) }
}

/// Bytes of the unified buffer that `heads` heads of `pairs` pairs take.
fn room(dtype: DType, pairs: u64, heads: u64, interleaved: bool) -> u64 {
    let row = elements(dtype, pairs, interleaved);
    // Of each element: input and result twice, two in f32, one for rounding; of a row: angles as they come, cosines and sines,
    // and, where pairs are neighbours, those for each feature and three tables.
    let each = 2 * 2 * bytes(dtype) + 2 * 4 + bytes(dtype);
    FIXED + heads * row * each + 2 * (pairs + 8) * 4 + 7 * row * 4
}

impl Steps {
    /// For heads of `rotary_dim` turned features of `dtype`.
    pub(super) fn new(dtype: DType, rotary_dim: usize, interleaved: bool, heads: usize) -> Steps {
        let pairs = (rotary_dim as u64 / 2).min(MOST_PAIRS);
        let one = room(dtype, pairs, 1, interleaved) - room(dtype, pairs, 0, interleaved);
        let fit = (BUDGET - room(dtype, pairs, 0, interleaved)) / one;
        Steps { pairs: pairs as u32, heads: fit.min(MOST_HEADS).min(heads as u64) as u32 }
    }

    /// Heads at a time of a tensor whose heads are `stride` elements apart: the gap between rows is counted in 32 bits, in bytes.
    #[inline]
    pub(super) fn heads_of(self, dtype: DType, heads: u32, stride: isize) -> u32 {
        let near = (stride as i64).saturating_mul(bytes(dtype) as i64) <= i64::from(u32::MAX);
        if near { self.heads.min(heads) } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_a_head_fits_and_what_is_chosen_has_room() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for interleaved in [false, true] {
                for rotary_dim in [2, 18, 64, 128, 256, 2014, 2016, 2018, 65536] {
                    for heads in [1, 3, 40, 128, 65536] {
                        let steps = Steps::new(dtype, rotary_dim, interleaved, heads);
                        let (pairs, at_once) = (u64::from(steps.pairs), u64::from(steps.heads));
                        assert!(
                            pairs >= 1 && (1..=MOST_HEADS).contains(&at_once),
                            "{dtype} {rotary_dim} {heads}: {steps:?}"
                        );
                        assert!(room(dtype, pairs, at_once, interleaved) <= BUDGET, "{dtype} {rotary_dim}: {steps:?}");
                        // A row of f32, in blocks.
                        let row = elements(dtype, pairs, interleaved) / if interleaved { 1 } else { 2 };
                        assert!(row / 8 <= 255, "{dtype} {rotary_dim}: {row}");
                    }
                }
            }
        }
    }

    #[test]
    fn heads_that_are_too_far_apart_go_one_by_one() {
        let steps = Steps::new(DType::BF16, 128, false, 32);
        assert_eq!(steps.heads_of(DType::BF16, 8, 128), 8);
        assert_eq!(steps.heads_of(DType::BF16, 8, (1 << 31) - 1), 8);
        assert_eq!(steps.heads_of(DType::BF16, 8, 1 << 31), 1);
    }
}
