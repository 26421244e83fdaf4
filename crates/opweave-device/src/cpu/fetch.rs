// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Memory that is read soon.

/// Bytes of a cache line of every processor here.
const LINE: usize = 64;

/// Asks the processor for the lines of `bytes` bytes at `data`, which may be any address. A hint: nothing is read, and a processor that
/// takes no hints does nothing.
#[inline]
pub fn fetch(data: *const u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        line(data.wrapping_add(at));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line(data: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch of any address is harmless; SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(data.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line(_: *const u8) {}
