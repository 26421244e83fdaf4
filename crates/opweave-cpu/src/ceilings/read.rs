// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading.

use std::ops::Range;

use opweave_device::cpu::Parallel;

use super::BLOCK;
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Isa, Simd};

struct Read {
    source: *const u8,
    bytes: usize,
}

// SAFETY: inert data; `read` answers for what is done through it.
unsafe impl Sync for Read {}

impl RowKernel for Read {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, blocks: Range<usize>) {
        let end = (blocks.end * BLOCK).min(self.bytes);
        let step = 4 * S::LANES * size_of::<f32>();
        let mut at = blocks.start * BLOCK;
        // The maximum, because a sum of arbitrary bits as numbers could be slow.
        let mut largest = [s.splat(0.0); 4];
        while at + step <= end {
            for (k, largest) in largest.iter_mut().enumerate() {
                // SAFETY: the clauses of `read`: `at..end` is within the bytes.
                *largest = s.max(*largest, unsafe { s.load_f32(self.source.add(at).cast::<f32>().add(k * S::LANES)) });
            }
            at += step;
        }
        while at < end {
            // SAFETY: as above.
            std::hint::black_box(unsafe { self.source.add(at).read() });
            at += 1;
        }
        let [a, b, c, d] = largest;
        std::hint::black_box(s.sum(s.max(s.max(a, b), s.max(c, d))));
    }
}

/// Reads `bytes` bytes on the threads of `pool`.
///
/// # Safety
/// - `source` is valid for reading `bytes` bytes, which nobody writes until this returns.
pub unsafe fn read(isa: Isa, pool: &dyn Parallel, source: *const u8, bytes: usize) {
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &Read { source, bytes }, bytes.div_ceil(BLOCK), BLOCK) }
}
