// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How rows meet memory: what is written past the caches, and loads and stores that end with their row.

use crate::rows::Rows;
use crate::simd::{Elem, Simd, last_level_cache};

/// Bytes of a cache line of every processor here; only prefetches depend on it.
pub(crate) const CACHE_LINE: usize = 64;

/// Whether to write an output of `bytes` past the caches: when it would not stay in them anyway, and is not also an input,
/// whose lines are there to be overwritten.
pub(crate) fn streams(bytes: usize, out: Rows, inputs: &[Rows]) -> bool {
    bytes >= last_level_cache() && inputs.iter().all(|input| input.data != out.data)
}

/// Reads `S::LANES` elements if `n` is that many, else the first `n`, with zeros after them.
///
/// # Safety
/// - `p` is valid for reading `n <= S::LANES` elements.
#[inline(always)]
pub(crate) unsafe fn load_some<S: Simd, T: Elem>(s: S, p: *const T, n: usize) -> S::F32 {
    // SAFETY: the caller's clause.
    unsafe { if n == S::LANES { T::load(s, p) } else { T::load_tail(s, p, n) } }
}

/// Writes all lanes if `n` is that many, else the first `n`; all of them past the caches with `stream`.
///
/// # Safety
/// - `p` is valid for writing `n <= S::LANES` elements; the clauses of [`Elem::store`] for `stream`.
#[inline(always)]
pub(crate) unsafe fn store_some<S: Simd, T: Elem>(s: S, p: *mut T, n: usize, v: S::F32, stream: bool) {
    // SAFETY: the caller's clauses.
    unsafe {
        match (n == S::LANES, stream) {
            (true, true) => T::store::<S, true>(s, p, v),
            (true, false) => T::store::<S, false>(s, p, v),
            (false, _) => T::store_tail(s, p, n, v),
        }
    }
}

/// Writes two vectors in pair order, past the caches with `stream`.
///
/// # Safety
/// - `p` is valid for writing twice `S::LANES` elements; the clauses of [`Elem::store`] for `stream`.
#[inline(always)]
pub(crate) unsafe fn store_two<S: Simd, T: Elem>(s: S, p: *mut T, v: [S::F32; 2], stream: bool) {
    // SAFETY: the caller's clauses.
    unsafe { if stream { T::store_pair::<S, true>(s, p, v) } else { T::store_pair::<S, false>(s, p, v) } }
}

/// Asks for the lines of two vectors of `T` at `p`, which may be any address.
#[inline(always)]
pub(crate) fn prefetch_two<S: Simd, T>(s: S, p: *const T) {
    s.prefetch(p.cast());
    // Two vectors of 512 bits of f32 are two lines.
    if const { 2 * S::LANES * size_of::<T>() > CACHE_LINE } {
        s.prefetch(p.wrapping_add(S::LANES).cast());
    }
}
