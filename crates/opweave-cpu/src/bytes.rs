// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows that are moved as they are.

use crate::memory::{CACHE_LINE, prefetch_step};
use crate::simd::Simd;

/// Copies `bytes` bytes; with `stream` past the caches, and then the lines at `next`, as far along, are asked for.
///
/// Streamed, whole lines are written from the first one that starts in the target: the ends of a row that begins within a
/// line go through the cache, so rows of any alignment may be streamed.
///
/// # Safety
/// - `from` is valid for reading and `to` for writing `bytes` bytes, and they do not overlap.
/// - After the last streamed copy, [`Simd::fence`] runs before anything else may look.
#[inline(always)]
pub(crate) unsafe fn copy<S: Simd>(s: S, from: *const u8, to: *mut u8, bytes: usize, stream: bool, next: *const u8) {
    let head = if stream { to.align_offset(CACHE_LINE).min(bytes) } else { bytes };
    // SAFETY: the caller's clauses: `head` and all that the loops reach is within the bytes; from `head` on, the target is
    // aligned to a line, which is as much as any vector here.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        let vector = S::LANES * size_of::<f32>();
        let mut at = head;
        // Four vectors are whole lines on every instruction set here, read before they are written.
        while at + 4 * vector <= bytes {
            prefetch_step(s, next.wrapping_add(at), 4 * vector);
            let mut four = [s.splat(0.0); 4];
            for (k, v) in four.iter_mut().enumerate() {
                *v = s.load_f32(from.add(at + k * vector).cast());
            }
            for (k, v) in four.into_iter().enumerate() {
                s.store_f32::<true>(to.add(at + k * vector).cast(), v);
            }
            at += 4 * vector;
        }
        std::ptr::copy_nonoverlapping(from.add(at), to.add(at), bytes - at);
    }
}

/// Writes `bytes` zeros, with `stream` past the caches.
///
/// # Safety
/// - As for [`copy`], of the target.
#[inline(always)]
pub(crate) unsafe fn zero<S: Simd>(s: S, to: *mut u8, bytes: usize, stream: bool) {
    let head = if stream { to.align_offset(CACHE_LINE).min(bytes) } else { bytes };
    // SAFETY: as in `copy`.
    unsafe {
        std::ptr::write_bytes(to, 0, head);
        let vector = S::LANES * size_of::<f32>();
        let mut at = head;
        while at + vector <= bytes {
            s.store_f32::<true>(to.add(at).cast(), s.splat(0.0));
            at += vector;
        }
        std::ptr::write_bytes(to.add(at), 0, bytes - at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, SimdOp};

    struct Move<'a> {
        from: &'a [u8],
        to: &'a mut [u8],
        stream: bool,
        zero: bool,
    }

    impl SimdOp for Move<'_> {
        type Output = ();

        #[inline(always)]
        fn eval<S: Simd>(self, s: S) {
            let bytes = self.from.len();
            // SAFETY: two slices of `bytes` bytes; a fence follows.
            unsafe {
                if self.zero {
                    zero(s, self.to.as_mut_ptr(), bytes, self.stream);
                } else {
                    copy(s, self.from.as_ptr(), self.to.as_mut_ptr(), bytes, self.stream, self.from.as_ptr());
                }
            }
            s.fence();
        }
    }

    #[test]
    fn every_length_at_every_alignment_is_moved_exactly() {
        let source: Vec<u8> = (0..700_u32).map(|i| (i * 37 % 251) as u8 + 1).collect();
        for isa in Isa::available() {
            for (stream, zeros) in [(false, false), (true, false), (false, true), (true, true)] {
                for start in [0, 1, 2, 3, 31, 32, 63, 64] {
                    for bytes in (0..200).chain([255, 256, 257, 511, 600]) {
                        let mut target = vec![0xee_u8; 900];
                        let base = target.as_ptr().align_offset(CACHE_LINE) + start;
                        let from = &source[start % 7..start % 7 + bytes];
                        isa.run(Move { from, to: &mut target[base..base + bytes], stream, zero: zeros });
                        let moved = &target[base..base + bytes];
                        assert!(if zeros { moved.iter().all(|&b| b == 0) } else { moved == from }, "{isa:?} {bytes}");
                        let around = target[..base].iter().chain(&target[base + bytes..]);
                        assert!(around.copied().all(|b| b == 0xee), "{isa:?} {start} {bytes} wrote beside its target");
                    }
                }
            }
        }
    }
}
