// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Copying.

use std::ops::Range;

use opweave_device::cpu::Parallel;

use super::BLOCK;
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Isa, Simd};

struct Copy {
    source: *const u8,
    target: *mut u8,
    bytes: usize,
    stream: bool,
}

// SAFETY: inert data; `copy` answers for what is done through it.
unsafe impl Sync for Copy {}

impl RowKernel for Copy {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, blocks: Range<usize>) {
        let end = (blocks.end * BLOCK).min(self.bytes);
        let step = 4 * S::LANES * size_of::<f32>();
        let mut at = blocks.start * BLOCK;
        // SAFETY: the clauses of `copy`: `at..end` is within the bytes, and everything is aligned.
        unsafe {
            while at + step <= end {
                let (from, to) = (self.source.add(at).cast::<f32>(), self.target.add(at).cast::<f32>());
                // All four reads come first: a line is then written as a whole.
                let mut v = [s.splat(0.0); 4];
                for (k, v) in v.iter_mut().enumerate() {
                    *v = s.load_f32(from.add(k * S::LANES));
                }
                for (k, v) in v.into_iter().enumerate() {
                    if self.stream {
                        s.store_f32::<true>(to.add(k * S::LANES), v);
                    } else {
                        s.store_f32::<false>(to.add(k * S::LANES), v);
                    }
                }
                at += step;
            }
            std::ptr::copy_nonoverlapping(self.source.add(at), self.target.add(at), end - at);
        }
        if self.stream {
            s.fence();
        }
    }
}

/// Copies `bytes` bytes on the threads of `pool`, with `stream` past the caches.
///
/// # Safety
/// - `source` is valid for reading and `target` for writing `bytes` bytes, they do not overlap, and both are aligned to 64.
/// - Nobody else accesses them until this returns.
pub unsafe fn copy(isa: Isa, pool: &dyn Parallel, source: *const u8, target: *mut u8, bytes: usize, stream: bool) {
    let kernel = Copy { source, target, bytes, stream };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, bytes.div_ceil(BLOCK), 2 * BLOCK) }
}
