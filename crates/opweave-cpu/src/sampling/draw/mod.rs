// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A token drawn from the likeliest of a row.
//!
//! Nothing is sorted and nothing is stored: the order of logits is that of 32-bit keys, and the last key that a filter keeps is
//! found digit by digit, from histograms on the stack of counts for `top_k` and of weights for `top_p`. Elements of one key have
//! one weight, so how many of those that share the last key are kept is a division. Then the kept weights are summed in
//! the order of their indices, once for the total and once up to the token.

mod filter;
mod philox;
mod scan;

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use self::filter::Kept;
use self::scan::Row;
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::sampling::argmax::{best, index_of, write_index};
use crate::simd::{Elem, Isa, Simd};

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct DrawCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns that are looked at, from 1 to 2^30.
    pub width: usize,
    /// The dtype of the logits: f32, f16 or bf16.
    pub dtype: DType,
    /// What probabilities are made of.
    pub logits: Rows,
    /// Of each row, side by side.
    pub parameters: Parameters,
    /// One index for each row, side by side.
    pub out: *mut u8,
    /// The dtype of the indices: i32, i64 or u32.
    pub index: DType,
    /// Whether `top_p` counts the whole row rather than what `top_k` leaves.
    pub joint: bool,
    /// Whether the filters see the logits without the temperature.
    pub filters_first: bool,
}

/// The addresses of every row's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Tokens that are kept.
    pub top_k: *const i32,
    /// The share that is kept.
    pub top_p: *const f32,
    /// What logits are divided by.
    pub temperature: *const f32,
    /// Keys of random numbers.
    pub seeds: *const u64,
    /// Their counters.
    pub offsets: *const u64,
}

/// The parameters of one row.
#[derive(Clone, Copy, Debug)]
struct By {
    top_k: i32,
    top_p: f32,
    temperature: f32,
    seed: u64,
    offset: u64,
}

impl Parameters {
    /// # Safety
    /// - `row` is a row of the call that these belong to.
    unsafe fn of(&self, row: usize) -> By {
        // SAFETY: the caller's clause, for each of the five.
        unsafe {
            By {
                top_k: self.top_k.add(row).read(),
                top_p: self.top_p.add(row).read(),
                temperature: self.temperature.add(row).read(),
                seed: self.seeds.add(row).read(),
                offset: self.offsets.add(row).read(),
            }
        }
    }

    /// The first row of `rows` with a parameter outside its legal set, and the place of the clause in the contract's list.
    ///
    /// # Safety
    /// - The parameters of `rows` rows are valid for reading.
    pub unsafe fn first_illegal(&self, rows: usize) -> Option<(usize, u32)> {
        // SAFETY: the caller's clause.
        (0..rows).find_map(|row| unsafe { self.of(row) }.illegal().map(|clause| (row, clause)))
    }
}

impl By {
    fn illegal(&self) -> Option<u32> {
        if self.top_k < -1 {
            Some(0)
        } else if !(0.0..=1.0).contains(&self.top_p) {
            Some(1)
        } else if !(0.0..f32::INFINITY).contains(&self.temperature) {
            Some(2)
        } else {
            None
        }
    }
}

/// Computes `call`.
///
/// # Safety
/// - Every row of the logits, `rows` parameters of each kind and `rows` indices lie in memory that is valid for reading and
///   writing, aligned to their elements, of the stated dtypes; they do not overlap.
/// - Nobody else accesses them until this returns.
pub unsafe fn draw(isa: Isa, pool: &dyn Parallel, call: &DrawCall) {
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

/// Passes over a row, each with an exponential: as so many bytes, a row is worth a task.
const PASSES: usize = 8;

/// # Safety
/// - As for [`draw`]; `T` is the call's dtype.
unsafe fn with<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &DrawCall) {
    let kernel = Body::<T> { call: *call, dtype: PhantomData };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, call.rows, PASSES * call.width * size_of::<f32>()) }
}

struct Body<T> {
    call: DrawCall,
    dtype: PhantomData<fn(T)>,
}

// SAFETY: inert data; `draw` answers for what is done through the addresses.
unsafe impl<T> Sync for Body<T> {}

impl<T: Elem> RowKernel for Body<T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        for row in rows {
            // SAFETY: the trait's clause: this is a row of the call.
            unsafe {
                let by = self.call.parameters.of(row);
                let token = if by.illegal().is_some() {
                    0
                } else {
                    token::<S, T>(s, &self.call, self.call.logits.row::<T>(row), by)
                };
                write_index(self.call.out, self.call.index, row, token);
            }
        }
    }
}

/// The token of the row at `p`.
///
/// # Safety
/// - `p` is valid for reading `call.width` elements.
#[inline(always)]
unsafe fn token<S: Simd, T: Elem>(s: S, call: &DrawCall, p: *const T, by: By) -> usize {
    // SAFETY: the caller's clause.
    let likeliest = index_of(unsafe { best::<S, T, false>(s, p, 0..call.width) });
    // SAFETY: the index is one of the row's.
    let most = unsafe { p.add(likeliest).read() }.to_f64() as f32;
    if by.temperature == 0.0 || most.is_nan() || most == f32::NEG_INFINITY {
        return likeliest;
    }
    let row = |temperature| Row { s, p, width: call.width, most, temperature };
    let filtering = row(if call.filters_first { 1.0 } else { by.temperature });
    let mut kept = Kept::ALL;
    if by.top_k > 0 && (by.top_k as usize) < call.width {
        kept = filter::most(&filtering, by.top_k as usize);
    }
    if by.top_p < 1.0 {
        let counted = if call.joint { Kept::ALL } else { kept };
        kept = kept.and(filter::share(&filtering, counted, by.top_p));
    }
    drawn(&row(by.temperature), kept, philox::uniform(by.seed, by.offset)).unwrap_or(likeliest)
}

/// The first token where the running sum of the kept weights exceeds `uniform` of their sum.
#[inline(always)]
fn drawn<S: Simd, T: Elem>(row: &Row<S, T>, kept: Kept, uniform: f64) -> Option<usize> {
    let (mut total, mut passing) = (0.0, kept.passing());
    row.for_each_block(|_, keys, weights| {
        for (key, weight) in keys.iter().zip(weights) {
            if passing.takes(*key) {
                total += f64::from(*weight);
            }
        }
        false
    });
    let target = uniform * total;
    let (mut sum, mut found, mut passing) = (0.0, None, kept.passing());
    row.for_each_block(|start, keys, weights| {
        for (place, (key, weight)) in keys.iter().zip(weights).enumerate() {
            if passing.takes(*key) {
                sum += f64::from(*weight);
                if sum > target {
                    found = Some(start + place);
                    return true;
                }
            }
        }
        false
    });
    found
}
