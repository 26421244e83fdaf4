// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The index of the largest element of each row.
//!
//! A row is read once: block by block for its largest value, of which it is remembered in which block it came up first. The
//! index is then looked for in that block alone. Where there are fewer rows than threads, several threads take parts of a
//! row; a part's result is one integer, of which the largest is the row's, in whatever order they come.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use crate::memory::begin_pages;
use crate::rows::{RowKernel, Rows, for_each_row, parts_of_a_row};
use crate::simd::{Elem, Isa, Simd};

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct ArgmaxCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns that are looked at, from 1 to 2^30.
    pub width: usize,
    /// The dtype of the logits: f32, f16 or bf16.
    pub dtype: DType,
    /// What is compared.
    pub logits: Rows,
    /// One index for each row, side by side.
    pub out: *mut u8,
    /// The dtype of the indices: i32, i64 or u32.
    pub index: DType,
    /// Whether NaN is above all numbers, rather than below.
    pub nan_first: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of the logits and `rows` indices lie in memory that is valid for reading and writing, aligned to their
///   elements, of the stated dtypes; they do not overlap.
/// - Nobody else accesses them until this returns.
pub unsafe fn argmax(isa: Isa, pool: &dyn Parallel, call: &ArgmaxCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => with::<f32>(isa, pool, call),
            DType::F16 => with::<f16>(isa, pool, call),
            DType::BF16 => with::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// The most rows that are cut into parts: their results lie on the stack until all parts are done.
const MOST_CUT: usize = 64;

/// # Safety
/// - As for [`argmax`]; `T` is the call's dtype.
unsafe fn with<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &ArgmaxCall) {
    let &ArgmaxCall { rows, width, .. } = call;
    let bytes = width * size_of::<T>();
    let parts = if rows <= MOST_CUT { parts_of_a_row(rows, bytes, pool.threads()) } else { 1 };
    let results = [const { AtomicU64::new(0) }; MOST_CUT];
    let kernel = Body::<T> { call: *call, parts, results: &results, dtype: PhantomData };
    // SAFETY: the caller's clauses: index `i` is a part of row `i / parts`, and each row is written once.
    unsafe {
        for_each_row(isa, pool, &kernel, rows * parts, bytes / parts);
        if parts > 1 {
            for (row, result) in results.iter().enumerate().take(rows) {
                write(call, row, result.load(Ordering::Relaxed));
            }
        }
    }
}

struct Body<'a, T> {
    call: ArgmaxCall,
    parts: usize,
    /// The largest result of each row so far, if rows are cut.
    results: &'a [AtomicU64; MOST_CUT],
    dtype: PhantomData<fn(T)>,
}

// SAFETY: inert data and atomics; `argmax` answers for what is done through the addresses.
unsafe impl<T> Sync for Body<'_, T> {}

impl<T: Elem> RowKernel for Body<'_, T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let ArgmaxCall { width, logits, nan_first, .. } = self.call;
        for index in rows {
            let (row, part) = (index / self.parts, index % self.parts);
            let columns = width * part / self.parts..width * (part + 1) / self.parts;
            // SAFETY: the trait's clause: these are columns of a row of the call.
            unsafe {
                let p = logits.row::<T>(row).cast_const();
                let result =
                    if nan_first { best::<S, T, true>(s, p, columns) } else { best::<S, T, false>(s, p, columns) };
                if self.parts == 1 {
                    write(&self.call, row, result);
                } else {
                    // Published by the pool's own synchronisation at the end of the run.
                    self.results[row].fetch_max(result, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Writes the index of a result.
///
/// # Safety
/// - `row` is a row of the call.
#[inline(always)]
unsafe fn write(call: &ArgmaxCall, row: usize, result: u64) {
    // SAFETY: the caller's clause.
    unsafe { write_index(call.out, call.index, row, index_of(result)) }
}

/// The index in a result.
#[inline(always)]
pub(super) fn index_of(result: u64) -> usize {
    !(result as u32) as usize
}

/// Writes the index of a row.
///
/// # Safety
/// - `out` is valid for writing an index of dtype `dtype` at `row`.
#[inline(always)]
pub(super) unsafe fn write_index(out: *mut u8, dtype: DType, row: usize, index: usize) {
    // SAFETY: the caller's clause; the index fits every dtype, since a row has at most 2^30 columns.
    unsafe {
        match dtype {
            DType::I64 => out.cast::<i64>().add(row).write(index as i64),
            DType::I32 => out.cast::<i32>().add(row).write(index as i32),
            _ => out.cast::<u32>().add(row).write(index as u32),
        }
    }
}

/// A value and its index as one integer: larger for a larger value, and for the smaller index of equal ones.
#[inline(always)]
fn result(order: u32, index: usize) -> u64 {
    u64::from(order) << 32 | u64::from(!(index as u32))
}

/// Above and below what [`order`] gives.
const NAN_FIRST: u32 = u32::MAX;
pub(super) const NAN_LAST: u32 = 0;

/// The place of a number in the order of numbers; both zeros have one.
#[inline(always)]
pub(super) fn order(number: f32) -> u32 {
    let bits = (number + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Columns whose largest value is found before it is compared with the blocks before: enough that the comparison costs
/// nothing, few enough that they are still in the first cache when the index is looked for.
const BLOCK: usize = 2048;

/// The result of `columns` of the row at `p`, of which there is at least one.
///
/// # Safety
/// - `p` is valid for reading the columns.
#[inline(always)]
pub(super) unsafe fn best<S: Simd, T: Elem, const NAN_IS_FIRST: bool>(s: S, p: *const T, columns: Range<usize>) -> u64 {
    let (mut most, mut place) = (f32::NEG_INFINITY, columns.clone());
    // SAFETY: the caller's clause: all columns are among those.
    unsafe {
        for start in columns.clone().step_by(BLOCK) {
            let block = start..columns.end.min(start + BLOCK);
            let (largest, nan) = largest_of::<S, T, NAN_IS_FIRST>(s, p, block.clone());
            if NAN_IS_FIRST && nan {
                let first = block.clone().find(|&i| p.add(i).read().to_f64().is_nan());
                return result(NAN_FIRST, first.unwrap_or(start));
            }
            if largest > most {
                (most, place) = (largest, block);
            }
        }
        match first_equal(s, p, place, most) {
            Some(index) => result(order(most), index),
            // Neither a number nor -infinity.
            None => result(NAN_LAST, columns.start),
        }
    }
}

/// The largest number of `columns`, -infinity where there is none, and, with `CHECK`, whether a NaN is among them.
///
/// # Safety
/// - As for [`best`].
#[inline(always)]
unsafe fn largest_of<S: Simd, T: Elem, const CHECK: bool>(s: S, p: *const T, columns: Range<usize>) -> (f32, bool) {
    let (mut i, end) = (columns.start, columns.end);
    let (mut most, mut nan) = ([s.splat(f32::NEG_INFINITY); 4], false);
    let (mut single, mut single_nan) = (f32::NEG_INFINITY, false);
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + 4 * S::LANES <= end {
            begin_pages(s, p.add(i).cast(), 4 * S::LANES * size_of::<T>());
            let v: [S::F32; 4] = [
                T::load(s, p.add(i)),
                T::load(s, p.add(i + S::LANES)),
                T::load(s, p.add(i + 2 * S::LANES)),
                T::load(s, p.add(i + 3 * S::LANES)),
            ];
            for (most, v) in most.iter_mut().zip(v) {
                // `max` gives its second operand where one is NaN.
                *most = s.max(v, *most);
            }
            if CHECK {
                nan |= s.any_nan(v[0], v[1]) | s.any_nan(v[2], v[3]);
            }
            i += 4 * S::LANES;
        }
        while i + S::LANES <= end {
            let v = T::load(s, p.add(i));
            most[0] = s.max(v, most[0]);
            if CHECK {
                nan |= s.any_nan(v, v);
            }
            i += S::LANES;
        }
        for i in i..end {
            let number = p.add(i).read().to_f64() as f32;
            single = if number > single { number } else { single };
            single_nan |= number.is_nan();
        }
    }
    let [a, b, c, d] = most;
    let largest = s.largest(s.max(s.max(a, b), s.max(c, d)));
    (if single > largest { single } else { largest }, nan | single_nan)
}

/// The first of `columns` that equals `value`.
///
/// # Safety
/// - As for [`best`].
#[inline(always)]
unsafe fn first_equal<S: Simd, T: Elem>(s: S, p: *const T, columns: Range<usize>, value: f32) -> Option<usize> {
    let wanted = s.splat(value);
    let mut i = columns.start;
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + S::LANES <= columns.end {
            let lane = s.first_equal(T::load(s, p.add(i)), wanted);
            if lane < S::LANES {
                return Some(i + lane);
            }
            i += S::LANES;
        }
        (i..columns.end).find(|&i| p.add(i).read().to_f64() == f64::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_results_is_that_of_numbers_and_then_of_indices() {
        let numbers = [f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY];
        assert!(numbers.windows(2).all(|w| order(w[0]) < order(w[1])));
        assert_eq!(order(-0.0), order(0.0));
        assert!(order(f32::NEG_INFINITY) > NAN_LAST && order(f32::INFINITY) < NAN_FIRST);
        assert!(result(order(1.0), 7) > result(order(1.0), 8) && result(order(1.0), 1 << 30) > result(order(0.5), 0));
        assert_eq!(!(result(5, 1 << 30) as u32), 1 << 30);
    }
}
