// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is kept of a row: a prefix of the order by key, larger first, and by index where keys are equal.

use super::scan::Row;
use crate::simd::{Elem, Simd};

/// All elements of larger keys than `key`, and the first `equal` of those that have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    key: u32,
    equal: usize,
}

/// Goes through a row in the order of indices.
pub(super) struct Passing {
    kept: Kept,
}

impl Passing {
    /// Whether the next element, of that key, is kept.
    #[inline(always)]
    pub(super) fn takes(&mut self, key: u32) -> bool {
        if key != self.kept.key {
            return key > self.kept.key;
        }
        let takes = self.kept.equal > 0;
        self.kept.equal -= usize::from(takes);
        takes
    }
}

impl Kept {
    pub(super) const ALL: Kept = Kept { key: 0, equal: usize::MAX };

    /// The shorter of two prefixes.
    pub(super) fn and(self, other: Kept) -> Kept {
        let shorter = other.key > self.key || (other.key == self.key && other.equal < self.equal);
        if shorter { other } else { self }
    }

    pub(super) fn passing(self) -> Passing {
        Passing { kept: self }
    }
}

/// Bits of a digit of a key: its histogram is on the stack.
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;

/// The first `k` of a row, `0 < k <` its width.
#[inline(always)]
pub(super) fn most<S: Simd, T: Elem>(row: &Row<S, T>, k: usize) -> Kept {
    let (mut prefix, mut left) = (0_u32, k);
    for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize).map(|low| u32::BITS - DIGIT_BITS - low) {
        let mut counts = [0_u32; DIGITS];
        row.for_each_block(|_, keys, _| {
            for key in keys {
                // Keys that agree with the digits found so far; none are, at first.
                if (key ^ prefix).checked_shr(shift + DIGIT_BITS).unwrap_or(0) == 0 {
                    counts[(key >> shift) as usize % DIGITS] += 1;
                }
            }
            false
        });
        for digit in (0..DIGITS).rev() {
            let here = counts[digit] as usize;
            if left <= here {
                prefix |= (digit as u32) << shift;
                break;
            }
            left -= here;
        }
    }
    Kept { key: prefix, equal: left }
}

/// The fewest of `counted` whose weights reach the share `p` of the sum of its weights, at least one; `p < 1`.
#[inline(always)]
pub(super) fn share<S: Simd, T: Elem>(row: &Row<S, T>, counted: Kept, p: f32) -> Kept {
    let (mut prefix, mut above, mut wanted) = (0_u32, 0.0_f64, 0.0_f64);
    // Of the elements that have the key in the end: how many, and the weight of each.
    let (mut equal, mut weight_of_each) = (0_usize, 0.0_f64);
    for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize).map(|low| u32::BITS - DIGIT_BITS - low) {
        let mut sums = [0.0_f64; DIGITS];
        let mut counts = [0_u32; DIGITS];
        let mut largest = [0.0_f32; DIGITS];
        let mut passing = counted.passing();
        row.for_each_block(|_, keys, weights| {
            for (key, weight) in keys.iter().zip(weights) {
                if passing.takes(*key) && (key ^ prefix).checked_shr(shift + DIGIT_BITS).unwrap_or(0) == 0 {
                    let digit = (key >> shift) as usize % DIGITS;
                    sums[digit] += f64::from(*weight);
                    counts[digit] += 1;
                    largest[digit] = largest[digit].max(*weight);
                }
            }
            false
        });
        if shift + DIGIT_BITS == u32::BITS {
            wanted = f64::from(p) * sums.iter().rev().sum::<f64>();
        }
        let mut chosen = None;
        for digit in (0..DIGITS).rev().filter(|digit| counts[*digit] > 0) {
            chosen = Some(digit);
            if above + sums[digit] >= wanted {
                break;
            }
            above += sums[digit];
        }
        // Without any, the sums of two passes differed in their last bit: everything is wanted.
        let Some(digit) = chosen else { return counted };
        if above + sums[digit] < wanted {
            return counted;
        }
        prefix |= (digit as u32) << shift;
        (equal, weight_of_each) = (counts[digit] as usize, f64::from(largest[digit]));
    }
    let needed = ((wanted - above) / weight_of_each).ceil();
    let fewest = if needed >= 1.0 { (needed as usize).min(equal) } else { 1 };
    // The division may round across a whole number.
    let reaches = |count: usize| above + count as f64 * weight_of_each >= wanted;
    let mut count = fewest;
    while count > 1 && reaches(count - 1) {
        count -= 1;
    }
    while count < equal && !reaches(count) {
        count += 1;
    }
    Kept { key: prefix, equal: count }
}
