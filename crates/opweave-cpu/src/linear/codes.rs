// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Weights of codes, in panels.
//!
//! Panel `p` holds rows `p * PANEL` and on, with zero codes for rows that there are not. It has as many lines for each block
//! of 32 columns as a code has bits; a line is a word of 32 bits for each of its rows.
//!
//! - 8 bits: the word of line `j` holds columns `4j` to `4j + 3` of the block, the first in its lowest byte.
//! - 4 bits: columns `8j` to `8j + 3` in the lower halves of its bytes, `8j + 4` to `8j + 7` in the upper ones.
//!
//! So one instruction multiplies four columns of sixteen rows by four codes of the input, and a mask or a shift of a word gives
//! the columns one after the other.

use std::ops::Range;

use opweave_contract::ops::linear::INPUT_BLOCK;
use opweave_device::cpu::Parallel;

use super::PANEL;
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Isa, Simd};

/// Bytes of packed codes of `bits`.
pub const fn code_bytes(bits: usize, in_features: usize, out_features: usize) -> usize {
    out_features.div_ceil(PANEL) * PANEL * in_features * bits / 8
}

/// Words of a panel for each column.
pub(super) const fn words(bits: usize, columns: usize) -> usize {
    columns * bits / 32 * PANEL
}

/// Brings codes of some rows into a panel's order.
///
/// # Safety
/// - Rows `first..first + count`, `count <= PANEL`, are valid for reading these columns: whole blocks.
/// - `to` is valid for writing [`words`] of them, apart from the weight.
#[inline(always)]
pub(super) unsafe fn gather(
    bits: usize,
    weight: Rows,
    (first, count): (usize, usize),
    columns: Range<usize>,
    to: *mut u32,
) {
    let lines = columns.len() * bits / 32;
    for row in 0..PANEL {
        // SAFETY: the caller's clauses: `lines` words of this row, four bytes each, and a place for each.
        unsafe {
            let to = to.add(row);
            if row >= count {
                (0..lines).for_each(|line| to.add(line * PANEL).write(0));
                continue;
            }
            let from = weight.row::<u8>(first + row).add(columns.start * bits / 8).cast::<u32>();
            for line in 0..lines {
                let word = u32::from_le(from.add(line).read_unaligned());
                let word = if bits == 4 { spread(word & 0xffff) | spread(word >> 16) << 4 } else { word };
                to.add(line * PANEL).write(word);
            }
        }
    }
}

/// Four codes of 4 bits to the lower halves of four bytes.
const fn spread(codes: u32) -> u32 {
    let pairs = (codes | codes << 8) & 0x00ff_00ff;
    (pairs | pairs << 4) & 0x0f0f_0f0f
}

struct Packing {
    bits: usize,
    weight: Rows,
    in_features: usize,
    out_features: usize,
    target: *mut u32,
}

// SAFETY: each panel of the target is written by one task alone.
unsafe impl Sync for Packing {}

impl RowKernel for Packing {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, _: S, rows: Range<usize>) {
        let size = words(self.bits, self.in_features);
        for panel in rows {
            let first = panel * PANEL;
            let count = PANEL.min(self.out_features - first);
            // A block at a time, so that the lines of its rows are in the first cache together.
            for start in (0..self.in_features).step_by(INPUT_BLOCK) {
                // SAFETY: the trait's clauses: these rows are the weight's, and this block of the panel is of the target.
                unsafe {
                    let to = self.target.add(panel * size + words(self.bits, start));
                    gather(self.bits, self.weight, (first, count), start..start + INPUT_BLOCK, to);
                }
            }
        }
    }
}

/// Packs plain codes: rows of `in_features * bits / 8` bytes, `in_features` a multiple of 32.
///
/// # Safety
/// - `out_features` rows of that many bytes are valid for reading.
/// - `target` is valid for writing [`code_bytes`], aligned to 4, apart from the weight, and nobody else touches it.
pub unsafe fn pack_codes(
    isa: Isa,
    pool: &dyn Parallel,
    (weight, bits): (Rows, usize),
    (in_features, out_features): (usize, usize),
    target: *mut u8,
) {
    let packing = Packing { bits, weight, in_features, out_features, target: target.cast() };
    // SAFETY: the caller's clauses; a row of the walk is a panel.
    unsafe { for_each_row(isa, pool, &packing, out_features.div_ceil(PANEL), PANEL * in_features) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nibbles_spread_to_bytes_in_order() {
        assert_eq!(spread(0x4321), 0x0403_0201);
        assert_eq!(spread(0xffff), 0x0f0f_0f0f);
    }

    #[test]
    fn words_hold_the_columns_that_the_layout_says() {
        // Column k of row 0 is k % 16; of row 1, 15 - k % 16.
        let rows: Vec<u8> = (0..2)
            .flat_map(|row| {
                (0..16).map(move |byte| {
                    let code = |k: usize| (if row == 0 { k % 16 } else { 15 - k % 16 }) as u8;
                    code(2 * byte) | code(2 * byte + 1) << 4
                })
            })
            .collect();
        let mut words = [u32::MAX; 4 * PANEL];
        let weight = Rows { data: rows.as_ptr().cast_mut(), stride: 16 };
        // SAFETY: two rows of 16 bytes, four lines.
        unsafe { gather(4, weight, (0, 2), 0..32, words.as_mut_ptr()) };
        assert_eq!(words[0], 0x7362_5140);
        assert_eq!(words[PANEL], 0xfbea_d9c8);
        assert_eq!(words[1], 0x8c9d_aebf);
        assert!(words[2..PANEL].iter().all(|&word| word == 0));
    }
}
