// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Codes of the weight times codes of the input: exact integers within a block, f32 between blocks.

use std::ops::Range;

use opweave_contract::ops::linear::{INPUT_BLOCK, WeightOffset};

use super::body::{Piece, Scratch};
use super::quantized::{AHEAD, QuantizedCall};
use super::{PANEL, codes};
use crate::memory::CACHE_LINE;
use crate::simd::{Elem, Simd};

/// Blocks of the input, from one of the piece's on: codes, scales and totals of rows that lie `pitch` blocks apart.
#[derive(Clone, Copy)]
pub(super) struct Input {
    codes: *const u32,
    scales: *const f32,
    totals: *const f32,
    pitch: usize,
}

impl Input {
    /// The blocks of a piece at hand, from this column of it on.
    ///
    /// # Safety
    /// - The piece is at hand in the scratch; the column is the first of a block, and within it.
    #[inline(always)]
    pub(super) unsafe fn of(scratch: &Scratch, piece: &Piece, column: usize) -> Input {
        let block = column / INPUT_BLOCK;
        // SAFETY: the caller's clause.
        unsafe {
            Input {
                codes: scratch.input.as_ptr().cast::<u32>().add(block * INPUT_BLOCK / 4),
                scales: scratch.scales.as_ptr().cast::<f32>().add(block),
                totals: scratch.totals.as_ptr().cast::<f32>().add(block),
                pitch: piece.columns.len() / INPUT_BLOCK,
            }
        }
    }

    /// From another row on.
    ///
    /// # Safety
    /// - There is such a row.
    #[inline(always)]
    unsafe fn row(self, row: usize) -> Input {
        let at = row * self.pitch;
        // SAFETY: the caller's clause.
        unsafe {
            Input {
                codes: self.codes.add(at * INPUT_BLOCK / 4),
                scales: self.scales.add(at),
                totals: self.totals.add(at),
                pitch: self.pitch,
            }
        }
    }
}

/// Adds the products of `tokens` rows and some columns of a panel to `sums`, block by block.
///
/// # Safety
/// - The call's clauses; `columns` are whole blocks of a panel of its layer, `words` their packed codes of `BITS` bits, `T` the
///   dtype of the scales; `input` has these blocks of that many rows.
/// - `sums` is valid for a line of [`PANEL`] for each row.
#[inline(always)]
pub(super) unsafe fn run<S: Simd, T: Elem, const BITS: usize>(
    s: S,
    call: &QuantizedCall,
    panel: usize,
    columns: Range<usize>,
    words: *const u32,
    (input, tokens): (Input, usize),
    sums: *mut f32,
) {
    let mut done = 0;
    macro_rules! tiles {
        ($($rows:literal)*) => { $(
            while tokens - done >= $rows {
                let first = done == 0;
                // SAFETY: the caller's clauses: these rows are among them.
                unsafe {
                    let (input, sums) = (input.row(done), sums.add(done * PANEL));
                    tile::<S, T, BITS, $rows>(s, call, panel, columns.clone(), (words, first), input, sums);
                }
                done += $rows;
            }
        )* };
    }
    if const { S::LANES == 16 } {
        tiles!(4 2 1);
    } else if const { S::LANES == 8 } {
        tiles!(2 1);
    } else {
        tiles!(1);
    }
}

/// [`run`] for so many rows.
///
/// # Safety
/// - As for [`run`].
#[inline(always)]
unsafe fn tile<S: Simd, T: Elem, const BITS: usize, const ROWS: usize>(
    s: S,
    call: &QuantizedCall,
    panel: usize,
    columns: Range<usize>,
    (words, first): (*const u32, bool),
    input: Input,
    sums: *mut f32,
) {
    for pair in 0..PANEL / (2 * S::LANES) {
        let at = pair * 2 * S::LANES;
        let mut acc = [[s.splat(0.0); 2]; ROWS];
        for (row, acc) in acc.iter_mut().enumerate() {
            // SAFETY: the caller's clause: two vectors of the row's line.
            unsafe {
                let sums = sums.add(row * PANEL + at);
                *acc = [s.load_f32(sums), s.load_f32(sums.add(S::LANES))];
            }
        }
        for block in 0..columns.len() / INPUT_BLOCK {
            let mut exact = [[s.splat_word(0); 2]; ROWS];
            // SAFETY: the caller's clauses: this block's words for these rows of the weight, and its codes in each row of the input.
            unsafe {
                let words = words.add(codes::words(BITS, block * INPUT_BLOCK) + at);
                for line in 0..BITS {
                    let words = words.add(line * PANEL);
                    if first && pair == 0 {
                        s.prefetch(words.cast::<u8>().wrapping_add(AHEAD));
                        s.prefetch(words.cast::<u8>().wrapping_add(AHEAD + CACHE_LINE));
                    }
                    let word = [s.load_words(words), s.load_words(words.add(S::LANES))];
                    if BITS == 4 {
                        let low = [s.low_nibbles(word[0]), s.low_nibbles(word[1])];
                        let high = [s.high_nibbles(word[0]), s.high_nibbles(word[1])];
                        for (row, exact) in exact.iter_mut().enumerate() {
                            let x = input.row(row).codes.add(block * INPUT_BLOCK / 4 + 2 * line);
                            let (even, odd) = (s.splat_word(*x), s.splat_word(*x.add(1)));
                            for half in 0..2 {
                                exact[half] = s.dot_bytes::<false>(exact[half], low[half], even);
                                exact[half] = s.dot_bytes::<false>(exact[half], high[half], odd);
                            }
                        }
                    } else {
                        for (row, exact) in exact.iter_mut().enumerate() {
                            let x = s.splat_word(*input.row(row).codes.add(block * INPUT_BLOCK / 4 + line));
                            for half in 0..2 {
                                exact[half] = s.dot_bytes::<true>(exact[half], word[half], x);
                            }
                        }
                    }
                }
                let column = columns.start + block * INPUT_BLOCK;
                if first && pair == 0 {
                    call.ask_beside::<S, T>(s, panel + 1, column);
                }
                let [scale, offset] = call.beside::<S, T>(s, (panel, pair), column);
                for (row, (acc, exact)) in acc.iter_mut().zip(exact).enumerate() {
                    let input = input.row(row);
                    let (own, total) = (s.splat(*input.scales.add(block)), *input.totals.add(block));
                    for half in 0..2 {
                        let products = s.integers(exact[half]);
                        let scale = s.mul(scale[half], own);
                        acc[half] = if call.scales.offset == WeightOffset::Minimum {
                            let least = s.mul(own, s.splat(total));
                            s.fma(offset[half], least, s.fma(products, scale, acc[half]))
                        } else {
                            // Both are integers below 2^24, and so is their difference.
                            s.fma(s.sub(products, s.mul(offset[half], s.splat(total))), scale, acc[half])
                        };
                    }
                }
            }
        }
        for (row, acc) in acc.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe {
                let sums = sums.add(row * PANEL + at);
                s.store_f32::<false>(sums, acc[0]);
                s.store_f32::<false>(sums.add(S::LANES), acc[1]);
            }
        }
    }
}
