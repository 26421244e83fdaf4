// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Many rows for each sequence: rows in blocks, each a task.

use std::marker::PhantomData;

use half::{bf16, f16};
use opweave_device::cpu::{Parallel, Serial};
use opweave_tensor::{DType, F8E4M3};

use super::block::{Block, ROWS};
use super::keys::{Sequence, range};
use super::state::Total;
use super::{Call, Ranges};
use crate::simd::{Elem, Isa, Simd, SimdOp};

/// Computes `call` for the rows of all sequences; rows of no sequence are empty ones.
///
/// # Safety
/// - As for [`decode`](super::decode), for the rows that `ranges` counts; its starts are valid to read.
pub unsafe fn prefill(isa: Isa, pool: &dyn Parallel, call: &Call, ranges: Ranges) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    unsafe {
        match (call.dtype, call.codes) {
            (DType::F32, false) => with::<f32, f32>(isa, pool, call, ranges),
            (DType::F16, false) => with::<f16, f16>(isa, pool, call, ranges),
            (DType::BF16, false) => with::<bf16, bf16>(isa, pool, call, ranges),
            (DType::F32, true) => with::<F8E4M3, f32>(isa, pool, call, ranges),
            (DType::F16, true) => with::<F8E4M3, f16>(isa, pool, call, ranges),
            (DType::BF16, true) => with::<F8E4M3, bf16>(isa, pool, call, ranges),
            (other, _) => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

impl Ranges {
    /// The first row and the rows of sequence `b`: none where its range is none.
    ///
    /// # Safety
    /// - `b` is a sequence of the call, whose starts are valid to read.
    unsafe fn of(&self, b: usize) -> (usize, usize) {
        // SAFETY: the caller's clause.
        unsafe { range(self.starts, b, self.tokens) }.map_or((0, 0), |range| (range.start, range.len()))
    }

    fn sequences(&self) -> usize {
        self.starts.len.saturating_sub(1)
    }

    /// Whether no two sequences share a row, and whether each row has one.
    ///
    /// # Safety
    /// - The starts are valid to read.
    unsafe fn shape(&self) -> (bool, bool) {
        // SAFETY: the caller's clause.
        unsafe {
            let apart = (0..self.sequences()).all(|b| range(self.starts, b, self.tokens).is_some());
            let last = self.starts.len - 1;
            let whole = self.starts.get(0) == 0 && self.starts.get(last) == self.tokens as i64;
            (apart, apart && whole)
        }
    }
}

/// # Safety
/// - As for [`prefill`], of keys of type T and queries of type U.
unsafe fn with<T: Elem, U: Elem>(isa: Isa, pool: &dyn Parallel, call: &Call, ranges: Ranges) {
    // SAFETY: the caller's clauses.
    let (apart, whole) = unsafe { ranges.shape() };
    let types = PhantomData;
    if !whole {
        isa.run(Nobodys::<T, U> { call, tokens: ranges.tokens, types });
    }
    let (group, heads) = (call.heads.group(), call.heads.keys);
    // SAFETY: the caller's clauses.
    let blocks = |b| (unsafe { ranges.of(b) }.1 * group).div_ceil(ROWS);
    let tasks = (0..ranges.sequences()).map(blocks).sum::<usize>() * heads;
    let run = |task: usize| {
        let (mut b, mut before) = (0, 0);
        while task >= before + blocks(b) * heads {
            (before, b) = (before + blocks(b) * heads, b + 1);
        }
        let (head, block) = ((task - before) / blocks(b), (task - before) % blocks(b));
        // The last rows see the most keys: long tasks first, so that threads end together.
        isa.run(Rows::<T, U> { call, ranges, b, head, block: blocks(b) - 1 - block, types });
    };
    // Sequences that share rows take turns.
    let pool = if apart { pool } else { &Serial };
    match tasks {
        0 => {}
        1 => run(0),
        all => pool.run(all, &run),
    }
}

/// Rows as those of no sequence.
struct Nobodys<'a, T, U> {
    call: &'a Call,
    tokens: usize,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for Nobodys<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        for token in 0..self.tokens {
            for head in 0..self.call.heads.queries {
                // SAFETY: the clauses of `prefill`; no values are read for an empty row.
                unsafe {
                    let heads = head..head + 1;
                    self.call.write_results::<S, T, U>(s, token, heads, &[Total::EMPTY], std::ptr::null());
                }
            }
        }
    }
}

/// A block of rows of one head of keys.
struct Rows<'a, T, U> {
    call: &'a Call,
    ranges: Ranges,
    b: usize,
    head: usize,
    block: usize,
    types: PhantomData<fn(T, U)>,
}

impl<T: Elem, U: Elem> SimdOp for Rows<'_, T, U> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let (call, group) = (self.call, self.call.heads.group());
        // SAFETY: the clauses of `prefill`: the rows are those of a sequence, and this task's.
        unsafe {
            let sequence = call.keys.sequence(self.b).unwrap_or(Sequence::EMPTY);
            let (first, queries) = self.ranges.of(self.b);
            if queries == 1 {
                // One query is a matter of reading keys.
                let heads = self.head * group..(self.head + 1) * group;
                if self.block == 0 {
                    call.one::<S, T, U>(s, first, heads, sequence, call.scoring.seen(sequence.keys, 0));
                }
                return;
            }
            let rows = self.block * ROWS..((self.block + 1) * ROWS).min(queries * group);
            Block { call, sequence, first, queries, head: self.head, rows }.run::<S, T, U>(s);
        }
    }
}
