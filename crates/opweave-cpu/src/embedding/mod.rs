// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The embedding family: rows of a table, by index.

use std::ops::Range;

use opweave_device::cpu::Parallel;

use crate::bytes;
use crate::indices::Indices;
use crate::memory::exceeds_caches;
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Isa, Simd};

/// One call: row `t` of `out` is row `ids[t] - first` of the table where that is in `0..rows`, else zeros.
#[derive(Clone, Copy, Debug)]
pub struct GatherCall {
    /// An index for each row of `out`.
    pub ids: Indices,
    /// The id of the table's first row.
    pub first: usize,
    /// Rows of the table.
    pub rows: usize,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// The table; strides in bytes.
    pub table: Rows,
    /// The result; strides in bytes.
    pub out: Rows,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of table and output lies in memory that is valid to read or write, and so do the ids.
/// - The output overlaps neither.
/// - Nobody else accesses them until this returns.
pub unsafe fn gather(isa: Isa, pool: &dyn Parallel, call: &GatherCall) {
    let stream = exceeds_caches(call.ids.len, call.row_bytes);
    let kernel = Gather { call: *call, stream };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, call.ids.len, 2 * call.row_bytes) }
}

struct Gather {
    call: GatherCall,
    stream: bool,
}

impl Gather {
    /// The row that token `t` asks for, if the table has it.
    ///
    /// # Safety
    /// - `t` is a token of the call.
    #[inline(always)]
    unsafe fn source(&self, t: usize) -> Option<*const u8> {
        let GatherCall { ids, first, rows, table, .. } = self.call;
        // SAFETY: the caller's clause.
        let id = unsafe { ids.get(t) };
        // Ids below the first wrap to the far end.
        let row = (id as u64).wrapping_sub(first as u64);
        // SAFETY: `row` is a row of the table.
        (row < rows as u64).then(|| unsafe { table.row::<u8>(row as usize) }.cast_const())
    }
}

impl RowKernel for Gather {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, tokens: Range<usize>) {
        let GatherCall { row_bytes, out, .. } = self.call;
        for t in tokens.clone() {
            // SAFETY: the trait's clause: `t` is a token of the call, and so is the next where there is one.
            unsafe {
                let to = out.row::<u8>(t);
                let next = if t + 1 < tokens.end { self.source(t + 1) } else { None };
                match self.source(t) {
                    Some(from) => bytes::copy(s, from, to, row_bytes, self.stream, next.unwrap_or(from)),
                    None => bytes::zero(s, to, row_bytes, self.stream),
                }
            }
        }
        if self.stream {
            s.fence();
        }
    }
}
