// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers to codes under a scale.

use crate::memory::{CACHE_LINE, is_vector_aligned};
use crate::simd::{Code, CodeKind, Elem, Simd};

/// What turns a number into a code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coding {
    /// The divisor; NaN makes every code that of NaN.
    pub(crate) scale: f32,
    /// No i8 code is below this.
    pub(crate) lowest: f32,
    /// Added to the rounded quotient, for i8.
    pub(crate) zero_point: Option<f32>,
}

/// The values of a vector before they are rounded to codes.
#[inline(always)]
fn quotients<S: Simd, C: Code>(s: S, coding: Coding, v: S::F32) -> S::F32 {
    let q = s.div(v, s.splat(coding.scale));
    if const { !matches!(C::KIND, CodeKind::I8) } {
        return q;
    }
    let q = match coding.zero_point {
        // Both are integers, and what is too large for their sum to be exact saturates.
        Some(zero_point) => s.add(s.round(q), s.splat(zero_point)),
        None => q,
    };
    // NaN stays: `max` gives its second operand then.
    s.max(s.splat(coding.lowest), q)
}

/// Encodes `width` elements. With `stream`, codes go past the caches where they are aligned, and meanwhile as many elements
/// from `next` on are fetched.
///
/// # Safety
/// - `input` is valid for reading and `out` for writing `width` elements, and they do not overlap.
/// - If `stream`, a fence follows.
#[inline(always)]
pub(crate) unsafe fn encode<S: Simd, T: Elem, C: Code + Elem>(
    s: S,
    input: *const T,
    out: *mut C,
    width: usize,
    coding: Coding,
    stream: bool,
    next: *const T,
) {
    let stream = stream && is_vector_aligned::<S, C>(out);
    // A whole line of codes at a time: streamed halves would have to be combined on their way out.
    let step = CACHE_LINE.max(S::LANES);
    let mut i = 0;
    // SAFETY: the caller's clauses, by the loops' bounds; streamed only where a vector of codes is aligned.
    unsafe {
        while i + step <= width {
            if stream {
                for line in 0..size_of::<T>() {
                    s.prefetch(next.wrapping_add(i).cast::<u8>().wrapping_add(line * CACHE_LINE));
                }
                for k in (0..step).step_by(S::LANES) {
                    let q = quotients::<S, C>(s, coding, T::load(s, input.add(i + k)));
                    C::store::<S, true>(s, out.add(i + k), q);
                }
            } else {
                for k in (0..step).step_by(S::LANES) {
                    let q = quotients::<S, C>(s, coding, T::load(s, input.add(i + k)));
                    C::store::<S, false>(s, out.add(i + k), q);
                }
            }
            i += step;
        }
        while i + S::LANES <= width {
            C::store::<S, false>(s, out.add(i), quotients::<S, C>(s, coding, T::load(s, input.add(i))));
            i += S::LANES;
        }
        if i < width {
            let q = quotients::<S, C>(s, coding, T::load_tail(s, input.add(i), width - i));
            C::store_tail(s, out.add(i), width - i, q);
        }
    }
}
