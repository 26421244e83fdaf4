// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The input as products want it.

use opweave_contract::ops::linear::INPUT_BLOCK;

use super::UNIT;
use super::body::{Piece, Scratch};
use crate::memory::load_some;
use crate::rows::Rows;
use crate::simd::{Elem, Simd};

/// Widens a piece to f32: for each run of [`UNIT`] columns the rows one after the other, [`UNIT`] apart.
///
/// # Safety
/// - The piece is valid for reading, and fits [`Scratch::input`] as f32.
#[inline(always)]
pub(super) unsafe fn widen<S: Simd, T: Elem>(s: S, input: Rows, piece: &Piece, scratch: &mut Scratch) {
    let mut to = scratch.input.as_mut_ptr().cast::<f32>();
    for start in piece.columns.clone().step_by(UNIT) {
        let len = UNIT.min(piece.columns.end - start);
        for token in piece.tokens.clone() {
            // SAFETY: `len` columns of this row; a row of a run has room for UNIT, a whole number of vectors.
            unsafe {
                let from = input.row::<T>(token).add(start);
                for at in (0..len).step_by(S::LANES) {
                    let v = load_some(s, from.add(at), S::LANES.min(len - at));
                    s.store_f32::<false>(to.add(at), v);
                }
                to = to.add(UNIT);
            }
        }
    }
}

/// The least scale of a block that is not zero.
const LEAST: f32 = f32::from_bits(1);

/// Quantises a piece to codes: for each row its blocks one after the other, with a scale and the sum of the codes of each.
///
/// # Safety
/// - The piece is valid for reading, made of whole blocks, and fits [`Scratch::input`] as bytes.
#[inline(always)]
pub(super) unsafe fn quantize<S: Simd, T: Elem>(s: S, input: Rows, piece: &Piece, scratch: &mut Scratch) {
    let mut codes = scratch.input.as_mut_ptr().cast::<i8>();
    let (mut scales, mut totals) =
        (scratch.scales.as_mut_ptr().cast::<f32>(), scratch.totals.as_mut_ptr().cast::<f32>());
    for token in piece.tokens.clone() {
        for start in piece.columns.clone().step_by(INPUT_BLOCK) {
            // SAFETY: a block of this row, and room for its codes, scale and total.
            unsafe {
                let (scale, total) = block(s, input.row::<T>(token).add(start), codes);
                (*scales, *totals) = (scale, total);
                (codes, scales, totals) = (codes.add(INPUT_BLOCK), scales.add(1), totals.add(1));
            }
        }
    }
}

/// The codes of a block; its scale and the sum of its codes.
///
/// # Safety
/// - `from` is valid for reading a block, `to` for writing one.
#[inline(always)]
unsafe fn block<S: Simd, T: Elem>(s: S, from: *const T, to: *mut i8) -> (f32, f32) {
    let (mut most, mut unordered) = (s.splat(0.0), false);
    for at in (0..INPUT_BLOCK).step_by(2 * S::LANES) {
        // SAFETY: the caller's clause; a block is a whole number of pairs of vectors.
        let v = unsafe { [T::load(s, from.add(at)), T::load(s, from.add(at + S::LANES))] };
        unordered |= s.any_nan(v[0], v[1]);
        most = s.max(most, s.max(s.abs(v[0]), s.abs(v[1])));
    }
    let most = s.largest(most);
    if unordered || most == f32::INFINITY {
        // SAFETY: the caller's clause.
        unsafe { to.write_bytes(0, INPUT_BLOCK) };
        return (f32::NAN, 0.0);
    }
    let scale = if most == 0.0 { 1.0 } else { (most / 127.0).max(LEAST) };
    let (divisor, lowest) = (s.splat(scale), s.splat(-127.0));
    let mut total = s.splat(0.0);
    for at in (0..INPUT_BLOCK).step_by(S::LANES) {
        // SAFETY: the caller's clause.
        unsafe {
            let code = s.max(lowest, s.div(T::load(s, from.add(at)), divisor));
            let code = s.min(s.round(code), s.splat(127.0));
            total = s.add(total, code);
            s.store_code::<i8, false>(to.add(at), code);
        }
    }
    (scale, s.sum(total))
}
