// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Merging: of all pairs of neighbours the one that comes first in the vocabulary's order, the leftmost of equals, until no
//! pair is in it. A heap of candidates over a linked list: long words cost n log n.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What a pair becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merge {
    /// Its place in the order.
    pub(super) rank: u32,
    /// The token.
    pub(super) token: u32,
}

/// An element of the list; `next` is past the end for the last.
#[derive(Clone, Copy)]
struct Part {
    token: u32,
    before: usize,
    next: usize,
    alive: bool,
}

/// Appends the merged tokens of `start` to `out`.
pub(super) fn merge(start: &[u32], merges: &HashMap<(u32, u32), Merge>, out: &mut Vec<u32>) {
    let mut parts: Vec<Part> = start
        .iter()
        .enumerate()
        .map(|(at, &token)| Part { token, before: at.wrapping_sub(1), next: at + 1, alive: true })
        .collect();
    let mut heap = BinaryHeap::new();
    let candidate = |parts: &[Part], at: usize| {
        let left = parts.get(at)?;
        let right = parts.get(left.next)?;
        let merge = merges.get(&(left.token, right.token))?;
        Some(Reverse((merge.rank, at, left.token, right.token)))
    };
    heap.extend((0..parts.len()).filter_map(|at| candidate(&parts, at)));
    while let Some(Reverse((_, at, left, right))) = heap.pop() {
        let next = parts[at].next;
        // A candidate is stale once either side was merged into something else.
        let fresh = parts[at].alive && parts[at].token == left && parts.get(next).is_some_and(|p| p.token == right);
        let Some(merge) = fresh.then(|| merges.get(&(left, right))).flatten() else { continue };
        let after = parts[next].next;
        parts[next].alive = false;
        parts[at].token = merge.token;
        parts[at].next = after;
        if let Some(part) = parts.get_mut(after) {
            part.before = at;
        }
        heap.extend(candidate(&parts, at));
        if parts[at].before < parts.len() {
            heap.extend(candidate(&parts, parts[at].before));
        }
    }
    out.extend(parts.iter().filter(|part| part.alive).map(|part| part.token));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(start: &[u32], order: &[(u32, u32, u32)]) -> Vec<u32> {
        let table = order.iter().enumerate();
        let table = table.map(|(rank, &(a, b, token))| ((a, b), Merge { rank: rank as u32, token })).collect();
        let mut out = Vec::new();
        merge(start, &table, &mut out);
        out
    }

    #[test]
    fn the_first_of_the_order_is_merged_first_and_the_leftmost_of_equals() {
        assert_eq!(merged(&[1, 2, 3], &[(2, 3, 23), (1, 2, 12)]), [1, 23]);
        assert_eq!(merged(&[1, 2, 3], &[(1, 2, 12), (2, 3, 23)]), [12, 3]);
        assert_eq!(merged(&[1, 1, 1], &[(1, 1, 11)]), [11, 1]);
        assert_eq!(merged(&[1, 1, 1, 1], &[(1, 1, 11), (11, 11, 22)]), [22]);
        assert_eq!(merged(&[1, 2, 3, 4], &[(2, 3, 23), (1, 23, 123), (123, 4, 99)]), [99]);
        assert!(merged(&[], &[]).is_empty());
    }

    #[test]
    fn long_words_are_merged_as_short_ones() {
        let order = [(1, 1, 11), (11, 11, 22)];
        assert_eq!(merged(&vec![1; 40_001], &order), [vec![22; 10_000], vec![1]].concat());
    }
}
