// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From codes of a panel to numbers.

use std::ops::Range;

use opweave_contract::ops::linear::{INPUT_BLOCK, WeightOffset};

use super::quantized::{AHEAD, Beside, QuantizedCall};
use super::{PANEL, UNIT, codes, tile};
use crate::memory::CACHE_LINE;
use crate::simd::{Elem, Simd};

/// Writes a line of f32 for each column.
///
/// # Safety
/// - The call's clauses; `columns` are whole blocks of a panel of its layer, `words` their packed codes of `BITS` bits, `T` the
///   dtype of the scales.
/// - `lines` is valid for writing that many lines of [`PANEL`] numbers.
#[inline(always)]
pub(super) unsafe fn run<S: Simd, T: Elem, const BITS: usize>(
    s: S,
    call: &QuantizedCall,
    panel: usize,
    columns: Range<usize>,
    words: *const u32,
    lines: *mut f32,
) {
    let minimum = call.scales.offset == WeightOffset::Minimum;
    for pair in 0..PANEL / (2 * S::LANES) {
        let at = pair * 2 * S::LANES;
        for block in 0..columns.len() / INPUT_BLOCK {
            // SAFETY: the caller's clauses: this block's words and lines, for these rows of the weight.
            unsafe {
                let beside = call.beside::<S, T>(s, (panel, pair), columns.start + block * INPUT_BLOCK);
                let words = words.add(codes::words(BITS, block * INPUT_BLOCK) + at);
                let lines = lines.add(block * INPUT_BLOCK * PANEL + at);
                for line in 0..BITS {
                    let words = fetch(s, words.add(line * PANEL), pair == 0);
                    let to = lines.add(line * (32 / BITS) * PANEL);
                    for k in 0..32 / BITS {
                        for (half, &words) in words.iter().enumerate() {
                            let number = number::<S, BITS>(s, words, k, &beside, half, minimum);
                            s.store_f32::<false>(to.add(k * PANEL + half * S::LANES), number);
                        }
                    }
                }
            }
        }
    }
}

/// Adds the products of `ROWS` rows and a run of a panel to `sums`, as [`run`] and [`tile::run`] do, without writing the
/// numbers down: for so few rows that they are not used again.
///
/// # Safety
/// - As for [`run`]; `x` is valid for reading as many numbers of each row, rows being [`UNIT`] apart; `sums` for writing a line
///   for each row.
#[inline(always)]
pub(super) unsafe fn times<S: Simd, T: Elem, const BITS: usize, const ROWS: usize>(
    s: S,
    call: &QuantizedCall,
    panel: usize,
    columns: Range<usize>,
    words: *const u32,
    x: *const f32,
    sums: *mut f32,
) {
    let minimum = call.scales.offset == WeightOffset::Minimum;
    for pair in 0..PANEL / (2 * S::LANES) {
        let mut acc = [[s.splat(0.0); 2]; ROWS];
        for block in 0..columns.len() / INPUT_BLOCK {
            let column = columns.start + block * INPUT_BLOCK;
            if pair == 0 {
                call.ask_beside::<S, T>(s, panel + 1, column);
            }
            // SAFETY: the caller's clauses: this block's words for these rows of the weight, and its numbers in each row.
            unsafe {
                let beside = call.beside::<S, T>(s, (panel, pair), column);
                let words = words.add(codes::words(BITS, block * INPUT_BLOCK) + pair * 2 * S::LANES);
                let x = x.add(block * INPUT_BLOCK);
                for line in 0..BITS {
                    let words = fetch(s, words.add(line * PANEL), pair == 0);
                    let x = x.add(line * (32 / BITS));
                    for k in 0..32 / BITS {
                        let w = [
                            number::<S, BITS>(s, words[0], k, &beside, 0, minimum),
                            number::<S, BITS>(s, words[1], k, &beside, 1, minimum),
                        ];
                        for (row, acc) in acc.iter_mut().enumerate() {
                            let x = s.splat(*x.add(row * UNIT + k));
                            *acc = [s.fma(x, w[0], acc[0]), s.fma(x, w[1], acc[1])];
                        }
                    }
                }
            }
        }
        for (row, acc) in acc.into_iter().enumerate() {
            // SAFETY: the row's line.
            unsafe { tile::add(s, sums.add(row * PANEL), pair, acc) };
        }
    }
}

/// A pair of vectors of words; with `ahead`, what is read later is asked for.
///
/// # Safety
/// - `words` is valid for reading them.
#[inline(always)]
unsafe fn fetch<S: Simd>(s: S, words: *const u32, ahead: bool) -> [S::Bits; 2] {
    if ahead {
        s.prefetch(words.cast::<u8>().wrapping_add(AHEAD));
        s.prefetch(words.cast::<u8>().wrapping_add(AHEAD + CACHE_LINE));
    }
    // SAFETY: the caller's clause.
    unsafe { [s.load_words(words), s.load_words(words.add(S::LANES))] }
}

/// The number that code `k` of words stands for, rounded once where multiplication and addition are.
#[inline(always)]
fn number<S: Simd, const BITS: usize>(
    s: S,
    words: S::Bits,
    k: usize,
    [scale, offset]: &Beside<S::F32>,
    half: usize,
    minimum: bool,
) -> S::F32 {
    // Columns 0 to 3 are in the lower halves of the bytes, 4 to 7 in the upper ones.
    let code = if BITS == 4 { s.nibble(words, 2 * (k % 4) + k / 4) } else { s.byte(words, k) };
    if minimum { s.fma(code, scale[half], offset[half]) } else { s.mul(s.sub(code, offset[half]), scale[half]) }
}
