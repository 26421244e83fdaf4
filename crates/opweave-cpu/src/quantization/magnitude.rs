// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The largest magnitude of a row, compared as integers: NaN, which is above infinity there, is never lost.

use half::{bf16, f16};

use crate::memory::CACHE_LINE;
use crate::simd::{Elem, Simd, SimdOp};

/// An activation's type, seen as bits.
pub(crate) trait Activation: Elem {
    /// Elements in a lane of 32 bits.
    const PER_LANE: usize;

    /// Reads a vector of magnitudes.
    ///
    /// # Safety
    /// - `p` is valid for reading `PER_LANE * S::LANES` elements.
    unsafe fn load_magnitudes<S: Simd>(s: S, p: *const Self) -> S::Bits;

    /// The larger ones, element by element.
    fn larger<S: Simd>(s: S, a: S::Bits, b: S::Bits) -> S::Bits;

    /// Whether any magnitude is above that of `limit`.
    fn any_above<S: Simd>(s: S, a: S::Bits, limit: S::Bits) -> bool;

    /// The same magnitude in all elements.
    fn splat_magnitude<S: Simd>(s: S, magnitude: u32) -> S::Bits;

    /// The largest element of a lane.
    fn largest_of_lane(lane: u32) -> u32;

    /// The largest of all elements of a vector.
    #[inline(always)]
    fn largest_of<S: Simd>(s: S, a: S::Bits) -> u32 {
        s.words(a).into_iter().fold(0, |most, lane| most.max(Self::largest_of_lane(lane)))
    }

    /// The bits of one magnitude.
    fn magnitude(self) -> u32;

    /// The number with these bits.
    fn number(magnitude: u32) -> f32;
}

impl Activation for f32 {
    const PER_LANE: usize = 1;

    #[inline(always)]
    unsafe fn load_magnitudes<S: Simd>(s: S, p: *const Self) -> S::Bits {
        // SAFETY: the caller's clause is the same.
        unsafe { s.load_magnitudes_32(p.cast()) }
    }

    #[inline(always)]
    fn larger<S: Simd>(s: S, a: S::Bits, b: S::Bits) -> S::Bits {
        s.larger_32(a, b)
    }

    #[inline(always)]
    fn any_above<S: Simd>(s: S, a: S::Bits, limit: S::Bits) -> bool {
        s.any_above_32(a, limit)
    }

    #[inline(always)]
    fn splat_magnitude<S: Simd>(s: S, magnitude: u32) -> S::Bits {
        s.splat_word(magnitude)
    }

    #[inline(always)]
    fn largest_of_lane(lane: u32) -> u32 {
        lane
    }

    #[inline(always)]
    fn magnitude(self) -> u32 {
        self.to_bits() & 0x7fff_ffff
    }

    #[inline(always)]
    fn number(magnitude: u32) -> f32 {
        f32::from_bits(magnitude)
    }
}

macro_rules! sixteen_bits {
    ($type:ty) => {
        impl Activation for $type {
            const PER_LANE: usize = 2;

            #[inline(always)]
            unsafe fn load_magnitudes<S: Simd>(s: S, p: *const Self) -> S::Bits {
                // SAFETY: the caller's clause is the same.
                unsafe { s.load_magnitudes_16(p.cast()) }
            }

            #[inline(always)]
            fn larger<S: Simd>(s: S, a: S::Bits, b: S::Bits) -> S::Bits {
                s.larger_16(a, b)
            }

            #[inline(always)]
            fn any_above<S: Simd>(s: S, a: S::Bits, limit: S::Bits) -> bool {
                s.any_above_16(a, limit)
            }

            #[inline(always)]
            fn splat_magnitude<S: Simd>(s: S, magnitude: u32) -> S::Bits {
                s.splat_word(magnitude << 16 | magnitude)
            }

            #[inline(always)]
            fn largest_of_lane(lane: u32) -> u32 {
                (lane & 0xffff).max(lane >> 16)
            }

            #[inline(always)]
            fn magnitude(self) -> u32 {
                u32::from(self.to_bits() & 0x7fff)
            }

            #[inline(always)]
            fn number(magnitude: u32) -> f32 {
                <$type>::from_bits(magnitude as u16).to_f32()
            }
        }
    };
}

sixteen_bits!(f16);
sixteen_bits!(bf16);

/// The bits of the largest magnitude whose quotient by `scale`, a positive number, is at most `most`.
pub(crate) fn largest_within<T: Activation>(scale: f32, most: f32) -> u32 {
    let mut magnitude = T::from_f64(f64::from(most) * f64::from(scale)).magnitude();
    // The product was rounded to T, and quotients are rounded to f32.
    while T::number(magnitude) / scale > most {
        magnitude -= 1;
    }
    while T::number(magnitude + 1) / scale <= most {
        magnitude += 1;
    }
    magnitude
}

/// The largest magnitude of `width > 0` elements: NaN if one of them is, else infinity if one is. Meanwhile the first half of `next`, as
/// long a row, is fetched.
///
/// # Safety
/// - `p` is valid for reading `width` elements.
#[inline(always)]
pub(crate) unsafe fn largest_magnitude<S: Simd, T: Activation>(
    s: S,
    p: *const T,
    width: usize,
    next: Option<*const T>,
) -> f32 {
    s.run(Largest { p, width, next })
}

/// [`largest_magnitude`], whose clauses hold wherever one is made.
struct Largest<T> {
    p: *const T,
    width: usize,
    next: Option<*const T>,
}

impl<T: Activation> SimdOp for Largest<T> {
    type Output = f32;

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> f32 {
        // SAFETY: the clause of `largest_magnitude`, which alone makes one.
        unsafe { largest(s, self.p, self.width, self.next) }
    }
}

/// # Safety
/// - As for [`largest_magnitude`].
#[inline(always)]
unsafe fn largest<S: Simd, T: Activation>(s: S, p: *const T, width: usize, next: Option<*const T>) -> f32 {
    let step = T::PER_LANE * S::LANES;
    if width < step {
        let mut largest = 0;
        for i in 0..width {
            // SAFETY: the caller's clause: `i < width`.
            largest = largest.max(unsafe { p.add(i).read() }.magnitude());
        }
        return T::number(largest);
    }
    // SAFETY: the caller's clause, by the loops' bounds. The last vector may overlap the one before: a maximum does not mind.
    unsafe {
        let last = T::load_magnitudes(s, p.add(width - step));
        let mut largest = [last; 4];
        let mut i = 0;
        while i + 4 * step <= width {
            if let Some(next) = next {
                // Four vectors of 512 bits are four lines.
                let half = next.wrapping_add(i / 2).cast::<u8>();
                for line in 0..(2 * step * size_of::<T>()).div_ceil(CACHE_LINE) {
                    s.prefetch(half.wrapping_add(line * CACHE_LINE));
                }
            }
            for (k, largest) in largest.iter_mut().enumerate() {
                *largest = T::larger(s, *largest, T::load_magnitudes(s, p.add(i + k * step)));
            }
            i += 4 * step;
        }
        while i + step <= width {
            largest[0] = T::larger(s, largest[0], T::load_magnitudes(s, p.add(i)));
            i += step;
        }
        let [a, b, c, d] = largest;
        T::number(T::largest_of(s, T::larger(s, T::larger(s, a, b), T::larger(s, c, d))))
    }
}
