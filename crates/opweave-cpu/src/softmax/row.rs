// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One row of the family.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::memory::{is_vector_aligned, load_some, prefetch_half, store_some, store_two};
use crate::rows::{RowKernel, Rows};
use crate::simd::math::{times_exp, times_exp_16};
use crate::simd::{Elem, Simd};

/// Columns whose exponentials are summed in f32 before f64 takes the sum up.
const SUM_BLOCK: usize = 512;

/// What becomes of a shifted logit.
pub(super) trait Form: Send + Sync {
    /// Whether the exponentials of the largest logits, which are 1, must be summed apart from the others.
    const APART: bool;

    /// What [`Form::result`] takes, from the sum of exponentials less one.
    fn of_sum(more: f64) -> f32;

    /// The result, near enough for type U.
    fn result<S: Simd, U: Elem>(s: S, shifted: S::F32, of_sum: S::F32) -> S::F32;
}

/// `e^x / sum`.
pub(super) struct Probability;

impl Form for Probability {
    const APART: bool = false;

    fn of_sum(more: f64) -> f32 {
        // The largest logit alone makes the sum 1 at least, so the reciprocal is a normal number, or NaN.
        (1.0 / (1.0 + more)) as f32
    }

    #[inline(always)]
    fn result<S: Simd, U: Elem>(s: S, shifted: S::F32, of_sum: S::F32) -> S::F32 {
        exponential::<S, U>(s, of_sum, shifted)
    }
}

/// `x - ln(sum)`.
pub(super) struct Logarithm;

impl Form for Logarithm {
    /// Where one logit has nearly all of the probability, its logarithm is what the others sum up to: next to a 1, f32 would lose
    /// that.
    const APART: bool = true;

    fn of_sum(more: f64) -> f32 {
        more.ln_1p() as f32
    }

    #[inline(always)]
    fn result<S: Simd, U: Elem>(s: S, shifted: S::F32, of_sum: S::F32) -> S::F32 {
        s.sub(shifted, of_sum)
    }
}

/// `y e^x`, near enough for results of type U.
#[inline(always)]
fn exponential<S: Simd, U: Elem>(s: S, y: S::F32, x: S::F32) -> S::F32 {
    if U::NARROW { times_exp_16(s, y, x) } else { times_exp(s, y, x) }
}

/// What a shifted logit is multiplied by, in two steps; none for a temperature of 1. The reciprocal of a temperature below the normal range would
/// be infinite, so its first step is a power of two: what overflows then is far below zero anyway.
pub(super) fn scale_of(temperature: f32) -> Option<[f32; 2]> {
    const FIRST: f32 = (1_u64 << 40) as f32;
    match temperature {
        1.0 => None,
        t if t.is_normal() => Some([1.0, 1.0 / t]),
        t => Some([FIRST, 1.0 / (t * FIRST)]),
    }
}

/// Exponentials of a row that are kept for its result: as much as stays in the second cache.
const KEPT: usize = 32 << 10;

/// Room for them, aligned to cache lines.
#[repr(align(64))]
struct Kept(MaybeUninit<[f32; KEPT]>);

/// Whether exponentials are kept, in the pair order of the result, rather than made again: where the result is rounded to 16
/// bits, which hides the one rounding more.
const fn keeps<T: Elem, U: Elem, F: Form>() -> bool {
    U::NARROW && T::NARROW && !F::APART
}

/// What does not depend on types.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub(super) input: Rows,
    pub(super) out: Rows,
    pub(super) width: usize,
    pub(super) scale: Option<[f32; 2]>,
    /// Whether the next row is fetched while one is worked on.
    pub(super) ahead: bool,
    pub(super) stream: bool,
}

pub(super) struct Whole<T, U, F> {
    shared: Shared,
    types: PhantomData<fn(T, U, F)>,
}

impl<T, U, F> Whole<T, U, F> {
    pub(super) fn new(shared: Shared) -> Self {
        Whole { shared, types: PhantomData }
    }
}

impl<T: Elem, U: Elem, F: Form> RowKernel for Whole<T, U, F> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        let mut kept = Kept(MaybeUninit::uninit());
        for row in rows.clone() {
            let next = if row + 1 < rows.end { row + 1 } else { row };
            // SAFETY: the trait's clause: both are rows of the call.
            unsafe {
                match self.shared.scale {
                    None => self.row(s, row, next, Shift { max: s.splat(0.0), scale: None }, &mut kept),
                    Some([first, second]) => {
                        let scale = Some([s.splat(first), s.splat(second)]);
                        self.row(s, row, next, Shift { max: s.splat(0.0), scale }, &mut kept);
                    }
                }
            }
        }
        if self.shared.stream {
            s.fence();
        }
    }
}

/// From logits to exponents of at most 0.
#[derive(Clone, Copy)]
struct Shift<V> {
    max: V,
    scale: Option<[V; 2]>,
}

impl<V: Copy> Shift<V> {
    #[inline(always)]
    fn apply<S: Simd<F32 = V>>(self, s: S, x: V) -> V {
        let shifted = s.sub(x, self.max);
        match self.scale {
            None => shifted,
            Some([first, second]) => s.mul(s.mul(shifted, first), second),
        }
    }
}

impl<T: Elem, U: Elem, F: Form> Whole<T, U, F> {
    /// # Safety
    /// - `row` and `next` are rows of the call, which nobody else writes.
    /// - If `stream`, a fence follows.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, row: usize, next: usize, shift: Shift<S::F32>, kept: &mut Kept) {
        let Shared { input, out, width, ahead, stream, .. } = self.shared;
        // SAFETY: the caller's clauses.
        unsafe {
            let (input, next, out) = (input.row::<T>(row), input.row::<T>(next).cast_const(), out.row::<U>(row));
            let shift = Shift { max: s.splat(maximum::<S, T>(s, input, width)), ..shift };
            let kept = kept.0.as_mut_ptr().cast::<f32>();
            let of_sum = s.splat(F::of_sum(sum::<S, T, U, F>(s, input, width, shift, kept, ahead.then_some(next))));
            let stream = stream && is_vector_aligned::<S, U>(out);
            let mut i = 0;
            while keeps::<T, U, F>() && i + 2 * S::LANES <= width.min(KEPT) {
                if ahead {
                    prefetch_half(s, next.wrapping_add(width / 2), i);
                }
                let (a, b) = (s.load_f32(kept.add(i)), s.load_f32(kept.add(i + S::LANES)));
                store_two(s, out.add(i), [s.mul(a, of_sum), s.mul(b, of_sum)], stream);
                i += 2 * S::LANES;
            }
            // Pairs have the order of their type, so both sides must be of one.
            while T::DTYPE == U::DTYPE && i + 2 * S::LANES <= width {
                if ahead {
                    prefetch_half(s, next.wrapping_add(width / 2), i);
                }
                let [a, b] = T::load_pair(s, input.add(i));
                let a = F::result::<S, U>(s, shift.apply(s, a), of_sum);
                let b = F::result::<S, U>(s, shift.apply(s, b), of_sum);
                store_two(s, out.add(i), [a, b], stream);
                i += 2 * S::LANES;
            }
            while i < width {
                let n = S::LANES.min(width - i);
                let x = load_some(s, input.add(i), n);
                store_some(s, out.add(i), n, F::result::<S, U>(s, shift.apply(s, x), of_sum), stream);
                i += n;
            }
        }
    }
}

/// The largest element; a NaN may be passed over, since it will be met again.
///
/// # Safety
/// - `width` elements are readable.
#[inline(always)]
unsafe fn maximum<S: Simd, T: Elem>(s: S, input: *const T, width: usize) -> f32 {
    let mut most = [s.splat(f32::NEG_INFINITY); 4];
    let mut i = 0;
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i + 4 * S::LANES <= width {
            let (a, b) = (T::load_pair(s, input.add(i)), T::load_pair(s, input.add(i + 2 * S::LANES)));
            for (most, v) in most.iter_mut().zip([a[0], a[1], b[0], b[1]]) {
                *most = s.max(v, *most);
            }
            i += 4 * S::LANES;
        }
        while i + S::LANES <= width {
            most[0] = s.max(T::load(s, input.add(i)), most[0]);
            i += S::LANES;
        }
        let vector = s.max(s.max(most[0], most[1]), s.max(most[2], most[3]));
        let mut largest = s.largest(vector);
        while i < width {
            let v = input.add(i).read().to_f64() as f32;
            largest = if v > largest { v } else { largest };
            i += 1;
        }
        largest
    }
}

/// The sum of the exponentials less one: block by block in f32, the blocks in f64.
///
/// # Safety
/// - `width` elements are readable.
#[inline(always)]
unsafe fn sum<S: Simd, T: Elem, U: Elem, F: Form>(
    s: S,
    input: *const T,
    width: usize,
    shift: Shift<S::F32>,
    kept: *mut f32,
    next: Option<*const T>,
) -> f64 {
    let (zero, one) = (s.splat(0.0), s.splat(1.0));
    let (mut total, mut i) = (-1.0, 0);
    // SAFETY: the caller's clause, by the loops' bounds.
    unsafe {
        while i < width {
            let end = width.min(i + SUM_BLOCK);
            let (mut sums, mut ones) = ([zero; 2], zero);
            while i + 2 * S::LANES <= end {
                if let Some(next) = next {
                    prefetch_half(s, next, i);
                }
                let v = T::load_pair(s, input.add(i));
                for (k, (sum, v)) in sums.iter_mut().zip(v).enumerate() {
                    let shifted = shift.apply(s, v);
                    let e = exponential::<S, U>(s, one, shifted);
                    if keeps::<T, U, F>() && i + 2 * S::LANES <= KEPT {
                        s.store_f32::<false>(kept.add(i + k * S::LANES), e);
                    }
                    // A NaN is on one side or the other.
                    *sum = s.add(*sum, if F::APART { s.select_sign(shifted, e, zero) } else { e });
                    ones = if F::APART { s.add(ones, s.select_sign(shifted, zero, e)) } else { ones };
                }
                i += 2 * S::LANES;
            }
            while i < end {
                let n = S::LANES.min(end - i);
                let shifted = shift.apply(s, load_some(s, input.add(i), n));
                let e = exponential::<S, U>(s, one, shifted);
                let e = if n == S::LANES { e } else { s.first_lanes(e, n) };
                sums[0] = s.add(sums[0], if F::APART { s.select_sign(shifted, e, zero) } else { e });
                ones = if F::APART { s.add(ones, s.select_sign(shifted, zero, e)) } else { ones };
                i += n;
            }
            if F::APART {
                total += f64::from(s.sum(ones));
            }
            total += f64::from(s.sum(s.add(sums[0], sums[1])));
        }
    }
    total
}
