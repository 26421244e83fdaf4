// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Storage types of activations and weights, seen as f32 vectors.

use half::{bf16, f16};
use opweave_tensor::{Element, F8E4M3, F8E5M2};

use super::code::portable::narrow;
use super::{Code, Simd, SimdOp};

/// A storage type that kernels widen to f32, compute in, and round back to.
///
/// The `_tail` functions handle the last elements of a row through a vector-sized buffer on the stack: memory outside
/// the row is never touched.
pub trait Elem: Element + Default {
    /// Whether storing rounds: narrower than the f32 that kernels compute in.
    const NARROW: bool;

    /// Reads `S::LANES` elements.
    ///
    /// # Safety
    /// - `p` is valid for reading `S::LANES` elements.
    unsafe fn load<S: Simd>(s: S, p: *const Self) -> S::F32;

    /// Rounds and writes `S::LANES` elements.
    ///
    /// # Safety
    /// - `p` is valid for writing `S::LANES` elements; with `STREAM`, aligned to that many bytes, and a
    ///   [`Simd::fence`] follows.
    unsafe fn store<S: Simd, const STREAM: bool>(s: S, p: *mut Self, v: S::F32);

    /// Reads twice `S::LANES` elements in this type's pair order.
    ///
    /// # Safety
    /// - `p` is valid for reading twice `S::LANES` elements.
    #[inline(always)]
    unsafe fn load_pair<S: Simd>(s: S, p: *const Self) -> [S::F32; 2] {
        // SAFETY: the caller's clause.
        unsafe { [Self::load(s, p), Self::load(s, p.add(S::LANES))] }
    }

    /// Rounds and writes two vectors that are in this type's pair order.
    ///
    /// # Safety
    /// - As for [`Elem::store`], with twice as many elements.
    #[inline(always)]
    unsafe fn store_pair<S: Simd, const STREAM: bool>(s: S, p: *mut Self, v: [S::F32; 2]) {
        // SAFETY: the caller's clauses.
        unsafe {
            Self::store::<S, STREAM>(s, p, v[0]);
            Self::store::<S, STREAM>(s, p.add(S::LANES), v[1]);
        }
    }

    /// Brings two vectors of consecutive elements, of whatever type, into this type's pair order.
    #[inline(always)]
    fn pair_order<S: Simd>(_: S, v: [S::F32; 2]) -> [S::F32; 2] {
        v
    }

    /// Rounds lanes to this type and widens them again.
    fn round<S: Simd>(s: S, v: S::F32) -> S::F32;

    /// The same for two vectors.
    #[inline(always)]
    fn round_pair<S: Simd>(s: S, v: [S::F32; 2]) -> [S::F32; 2] {
        [Self::round(s, v[0]), Self::round(s, v[1])]
    }

    /// Whether `|v| < bound` for two vectors, which are the elements at `at`; not where one is NaN. `bound` is a number of this
    /// type.
    ///
    /// # Safety
    /// - `at` is valid for reading twice `S::LANES` elements.
    #[inline(always)]
    unsafe fn pair_below<S: Simd>(s: S, at: *const Self, v: [S::F32; 2], bound: f32) -> bool {
        let _ = at;
        s.all_below(v[0], bound) && s.all_below(v[1], bound)
    }

    /// The exact value.
    fn to_f64(self) -> f64;

    /// The nearest value, ties to even.
    fn from_f64(value: f64) -> Self;

    /// Reads `n < S::LANES` elements into the first lanes; zero in the others.
    ///
    /// # Safety
    /// - `p` is valid for reading `n` elements, and `n < S::LANES <= 16`.
    #[inline(always)]
    unsafe fn load_tail<S: Simd>(s: S, p: *const Self, n: usize) -> S::F32 {
        debug_assert!(n < S::LANES && S::LANES <= MAX_LANES);
        let lanes = s.run(LoadTail { p, n });
        // SAFETY: the buffer holds as many numbers as the widest vector.
        unsafe { s.load_f32(lanes.as_ptr()) }
    }

    /// Rounds and writes the first `n < S::LANES` lanes.
    ///
    /// # Safety
    /// - `p` is valid for writing `n` elements, and `n < S::LANES <= 16`.
    #[inline(always)]
    unsafe fn store_tail<S: Simd>(s: S, p: *mut Self, n: usize, v: S::F32) {
        debug_assert!(n < S::LANES && S::LANES <= MAX_LANES);
        let mut lanes = [0.0; MAX_LANES];
        // SAFETY: the buffer holds as many numbers as the widest vector.
        unsafe { s.store_f32::<false>(lanes.as_mut_ptr(), v) };
        s.run(StoreTail { p, n, lanes });
    }
}

/// [`Elem::load_tail`], whose clause holds wherever one is made: a function of its own, since every loop ends in one.
struct LoadTail<T> {
    p: *const T,
    n: usize,
}

impl<T: Elem> SimdOp for LoadTail<T> {
    type Output = [f32; MAX_LANES];

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) -> [f32; MAX_LANES] {
        let (mut buffer, mut lanes) = ([T::default(); MAX_LANES], [0.0; MAX_LANES]);
        // SAFETY: the clause of `load_tail`, which alone makes one; the buffers hold more than `n` elements, and `LANES`.
        unsafe {
            std::ptr::copy_nonoverlapping(self.p, buffer.as_mut_ptr(), self.n);
            s.store_f32::<false>(lanes.as_mut_ptr(), T::load(s, buffer.as_ptr()));
        }
        lanes
    }
}

/// [`Elem::store_tail`] likewise.
struct StoreTail<T> {
    p: *mut T,
    n: usize,
    lanes: [f32; MAX_LANES],
}

impl<T: Elem> SimdOp for StoreTail<T> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let mut buffer = [T::default(); MAX_LANES];
        // SAFETY: the clause of `store_tail`, which alone makes one; the buffers hold `LANES` elements.
        unsafe {
            T::store::<S, false>(s, buffer.as_mut_ptr(), s.load_f32(self.lanes.as_ptr()));
            std::ptr::copy_nonoverlapping(buffer.as_ptr(), self.p, self.n);
        }
    }
}

/// The widest vector of any instruction set here: 512 bits of f32.
pub const MAX_LANES: usize = 16;

macro_rules! elem {
    ($type:ty, $narrow:literal, $load:ident, $store:ident, $round:expr, $to:expr, $from:expr
        $(, sixteen bits, store_pair $store_pair:ident)? $(, load_pair $load_pair:ident, round_pair $round_pair:ident, pair_order $order:ident)?
    ) => {
        impl Elem for $type {
            const NARROW: bool = $narrow;

            $(
                #[inline(always)]
                unsafe fn store_pair<S: Simd, const STREAM: bool>(s: S, p: *mut Self, v: [S::F32; 2]) {
                    // SAFETY: the caller's clauses are the same.
                    unsafe { s.$store_pair::<STREAM>(p, v) }
                }

                #[inline(always)]
                unsafe fn pair_below<S: Simd>(s: S, at: *const Self, _: [S::F32; 2], bound: f32) -> bool {
                    // Magnitudes are in the order of their bits, NaN above all: as integers both vectors are one.
                    let largest = u32::from(<$type>::from_f32(bound).to_bits() - 1);
                    // SAFETY: the caller's clause.
                    let magnitudes = unsafe { s.load_magnitudes_16(at.cast()) };
                    !s.any_above_16(magnitudes, s.splat_word(largest << 16 | largest))
                }
            )?

            $(
                #[inline(always)]
                unsafe fn load_pair<S: Simd>(s: S, p: *const Self) -> [S::F32; 2] {
                    // SAFETY: the caller's clause is the same.
                    unsafe { s.$load_pair(p) }
                }

                #[inline(always)]
                fn round_pair<S: Simd>(s: S, v: [S::F32; 2]) -> [S::F32; 2] {
                    s.$round_pair(v)
                }

                #[inline(always)]
                fn pair_order<S: Simd>(s: S, v: [S::F32; 2]) -> [S::F32; 2] {
                    s.$order(v)
                }
            )?

            #[inline(always)]
            unsafe fn load<S: Simd>(s: S, p: *const Self) -> S::F32 {
                // SAFETY: the caller's clause is the same.
                unsafe { s.$load(p) }
            }

            #[inline(always)]
            unsafe fn store<S: Simd, const STREAM: bool>(s: S, p: *mut Self, v: S::F32) {
                // SAFETY: the caller's clauses are the same.
                unsafe { s.$store::<STREAM>(p, v) }
            }

            #[inline(always)]
            fn round<S: Simd>(s: S, v: S::F32) -> S::F32 {
                $round(s, v)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to(self)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
        }
    };
}

elem!(f32, false, load_f32, store_f32, |_, v| v, f64::from, |v| v as f32);
elem!(
    f16,
    true,
    load_f16,
    store_f16,
    S::round_f16,
    f16::to_f64,
    |v| f16::from_f32(to_odd_f32(v)),
    sixteen bits, store_pair store_f16_pair
);
elem!(
    bf16,
    true,
    load_bf16,
    store_bf16,
    S::round_bf16,
    bf16::to_f64,
    |v| bf16::from_f32(to_odd_f32(v)),
    sixteen bits, store_pair store_bf16_pair,
    load_pair load_bf16_pair,
    round_pair round_bf16_pair,
    pair_order bf16_pair_order
);

/// Codes saturate, and so are no place for activations that may overflow; see [`Code`].
macro_rules! code {
    ($type:ty, $to:expr, $from:expr) => {
        impl Elem for $type {
            const NARROW: bool = true;

            #[inline(always)]
            unsafe fn load<S: Simd>(s: S, p: *const Self) -> S::F32 {
                // SAFETY: the caller's clause is the same.
                unsafe { s.load_code(p) }
            }

            #[inline(always)]
            unsafe fn store<S: Simd, const STREAM: bool>(s: S, p: *mut Self, v: S::F32) {
                // SAFETY: the caller's clauses are the same.
                unsafe { s.store_code::<$type, STREAM>(p, v) }
            }

            #[inline(always)]
            fn round<S: Simd>(s: S, v: S::F32) -> S::F32 {
                s.round_code::<$type>(v)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to(self)
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from(narrow(<$type as Code>::KIND, to_odd_f32(value)))
            }
        }
    };
}

code!(F8E4M3, |v: F8E4M3| f64::from(v.to_f32()), F8E4M3::from_bits);
code!(F8E5M2, |v: F8E5M2| f64::from(v.to_f32()), F8E5M2::from_bits);
code!(i8, f64::from, |bits| bits as i8);

/// Rounds to f32 such that a second rounding to 16 bits gives the nearest value of the first: towards zero, with the last
/// bit set if anything was lost. `half` rounds from f64 in two plain steps, which errs next to ties.
fn to_odd_f32(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let away = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(away)) | 1)
}
