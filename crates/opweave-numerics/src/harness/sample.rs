// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tokens: which rows are theirs, and which are looked at where there are too many.

use opweave_contract::{Operator, TensorSpec};

use crate::host::Layout;
use crate::suite::Case;

/// Whether the tensor has a row, or an element, or several, for each token: the first dynamic dimension.
pub(super) fn by_token(spec: &TensorSpec) -> bool {
    spec.dims.first().is_some_and(|d| d.size.dynamic == Some(0))
}

/// The rows that belong to these tokens: one for each in a matrix, several where a token has heads.
pub(super) fn rows_of(layout: &Layout, tokens: &[usize]) -> Vec<usize> {
    let each = layout.rows() / layout.shape.first().copied().unwrap_or(1).max(1);
    tokens.iter().flat_map(|&token| token * each..(token + 1) * each).collect()
}

/// The tokens that a case samples, if it does.
pub(super) fn sample<O: Operator>(case: &Case<O>) -> Option<Vec<usize>> {
    let tokens = case.dims.first().copied().unwrap_or(1);
    case.sampled_rows.filter(|&most| most < tokens).map(|most| spread(tokens, most))
}

/// Up to `most` of `tokens`: both ends, the neighbours of every point where a 32-bit element or byte offset of some width
/// could wrap (powers of two), and the rest evenly spread.
fn spread(tokens: usize, most: usize) -> Vec<usize> {
    let mut picked = vec![0, tokens - 1];
    let mut power = tokens.next_power_of_two();
    while picked.len() + 2 < most / 2 && power > 1 {
        power /= 2;
        picked.extend([power - 1, power].into_iter().filter(|&t| t < tokens));
    }
    let rest = most.saturating_sub(picked.len()).max(1);
    picked.extend((0..rest).map(|i| i * tokens / rest));
    picked.sort_unstable();
    picked.dedup();
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_hold_both_ends_and_the_wrap_points() {
        let picked = spread(524_289, 64);
        for token in [0, 524_288, 524_287, 262_144, 262_143] {
            assert!(picked.contains(&token), "{token}");
        }
        assert!(picked.len() <= 64 && picked.windows(2).all(|w| w[0] < w[1]));
        assert!(picked.iter().filter(|&&t| t > 262_144 && t < 520_000).count() > 5, "the middle is sampled too");
        assert_eq!(spread(2, 1), [0, 1]);
    }
}
