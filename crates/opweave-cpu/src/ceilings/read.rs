// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading.

use std::ops::Range;

use opweave_device::cpu::Parallel;

use super::BLOCK;
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Isa, Simd};

/// Bytes of a stream that are read before the other's: two vectors of the widest kind.
const STEP: usize = 128;

struct Read {
    source: *const u8,
    bytes: usize,
}

// SAFETY: inert data; `read` answers for what is done through it.
unsafe impl Sync for Read {}

impl RowKernel for Read {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, blocks: Range<usize>) {
        let start = blocks.start * BLOCK;
        let bytes = ((blocks.end * BLOCK).min(self.bytes)).saturating_sub(start);
        // Two streams, as kernels have that read two rows or two panels at once: memory gives more to two than to one.
        let half = bytes / 2 / STEP * STEP;
        // The maximum, because a sum of arbitrary bits as numbers could be slow.
        let mut largest = [s.splat(0.0); 4];
        for at in (0..half).step_by(STEP) {
            for (k, pair) in largest.chunks_mut(2).enumerate() {
                // SAFETY: the clauses of `read`: a step of either half is within the bytes.
                let from = unsafe { self.source.add(start + k * half + at).cast::<f32>() };
                for (at, largest) in (0..STEP / size_of::<f32>()).step_by(S::LANES).zip((0..2).cycle()) {
                    // SAFETY: as above: a vector of the step.
                    pair[largest] = s.max(pair[largest], unsafe { s.load_f32(from.add(at)) });
                }
            }
        }
        for at in start + 2 * half..start + bytes {
            // SAFETY: as above.
            std::hint::black_box(unsafe { self.source.add(at).read() });
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
