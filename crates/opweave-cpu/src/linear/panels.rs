// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Weights in floating point, in panels.
//!
//! Panel `p` holds rows `p * PANEL` and on; it has a line for each column, of `PANEL` numbers in the dtype of the weight, with
//! zeros for rows that there are not. Within a line, numbers stand as [`Elem::load_pair`] of the instruction set reads them.

use std::ops::Range;

use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::{PANEL, by_float};
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Elem, Isa, Simd};

/// Bytes of a packed weight.
pub const fn float_bytes(dtype: DType, in_features: usize, out_features: usize) -> usize {
    out_features.div_ceil(PANEL) * PANEL * in_features * (dtype.bits() / 8)
}

/// Brings `columns` of some rows into a panel's order: `lines` gets one for each column.
///
/// # Safety
/// - Rows `first..first + count`, `count <= PANEL`, are valid for reading these columns.
/// - `lines` is valid for writing that many lines, apart from the weight.
#[inline(always)]
pub(super) unsafe fn gather<S: Simd, T: Elem>(
    s: S,
    weight: Rows,
    (first, count): (usize, usize),
    columns: Range<usize>,
    lines: *mut T,
) {
    // As many columns at a time as stay in the first cache while their rows are read one after the other.
    const STEP: usize = 32;
    let mut square = [[0.0_f32; PANEL]; STEP];
    for start in columns.clone().step_by(STEP) {
        let step = STEP.min(columns.end - start);
        for row in 0..count {
            // SAFETY: the caller's clause: `step` columns of this row.
            unsafe {
                let from = weight.row::<T>(first + row).add(start);
                for (k, line) in square.iter_mut().enumerate().take(step) {
                    line[row] = widen(s, from.add(k));
                }
            }
        }
        for (k, line) in square.iter().enumerate().take(step) {
            for pair in 0..PANEL / (2 * S::LANES) {
                let at = pair * 2 * S::LANES;
                // SAFETY: the caller's clause: a line of this column; `line` holds PANEL numbers.
                unsafe {
                    let v = [s.load_f32(line.as_ptr().add(at)), s.load_f32(line.as_ptr().add(at + S::LANES))];
                    T::store_pair::<S, false>(s, lines.add((start - columns.start + k) * PANEL + at), v);
                }
            }
        }
    }
}

/// One number, exactly.
///
/// # Safety
/// - `p` is valid for reading one element.
#[inline(always)]
unsafe fn widen<S: Simd, T: Elem>(_: S, p: *const T) -> f32 {
    // SAFETY: the caller's clause; the types are those of the dtypes.
    unsafe {
        match T::DTYPE {
            DType::BF16 => f32::from_bits(u32::from(*p.cast::<u16>()) << 16),
            _ => (*p).to_f64() as f32,
        }
    }
}

struct Packing<T> {
    weight: Rows,
    in_features: usize,
    out_features: usize,
    target: *mut T,
}

// SAFETY: each panel of the target is written by one task alone.
unsafe impl<T> Sync for Packing<T> {}

impl<T: Elem> RowKernel for Packing<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        for panel in rows {
            let first = panel * PANEL;
            let count = PANEL.min(self.out_features - first);
            // SAFETY: the trait's clauses: these rows are the weight's, and this panel is of the target.
            unsafe {
                let lines = self.target.add(first * self.in_features);
                gather(s, self.weight, (first, count), 0..self.in_features, lines);
            }
        }
    }
}

/// Packs a plain weight of `dtype`.
///
/// # Safety
/// - `out_features` rows of `in_features` elements of `dtype` are valid for reading.
/// - `target` is valid for writing [`float_bytes`], aligned to the dtype, apart from the weight, and nobody else touches it.
pub unsafe fn pack_floats(
    isa: Isa,
    pool: &dyn Parallel,
    (weight, dtype): (Rows, DType),
    (in_features, out_features): (usize, usize),
    target: *mut u8,
) {
    by_float!(dtype, |T| {
        let packing = Packing::<T> { weight, in_features, out_features, target: target.cast() };
        // SAFETY: the caller's clauses; a row of the walk is a panel.
        unsafe { for_each_row(isa, pool, &packing, out_features.div_ceil(PANEL), PANEL * in_features * 4) }
    });
}
