// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cosines and sines of one token, as the loops over its heads read them.

use std::marker::PhantomData;

use half::{bf16, f16};
use opweave_tensor::DType;

use super::{CosSin, RotaryCall};
use crate::simd::{Elem, Simd, SimdOp};

/// Pairs that are turned at a time: those of heads of 512 features, more than any model's.
pub(super) const CHUNK: usize = 256;

/// Room for a chunk, each value twice.
const ROOM: usize = 2 * CHUNK;

/// A token's row of the cache, and its current chunk.
pub(super) struct Angles<'a> {
    call: &'a RotaryCall,
    position: usize,
    /// The position and the first pair of what the buffers hold.
    held: Option<(usize, usize)>,
    cosines: [f32; ROOM],
    sines: [f32; ROOM],
}

impl<'a> Angles<'a> {
    #[inline(always)]
    pub(super) fn new(call: &'a RotaryCall) -> Self {
        Angles { call, position: 0, held: None, cosines: [0.0; ROOM], sines: [0.0; ROOM] }
    }

    /// Goes to a position, which the cache has.
    #[inline(always)]
    pub(super) fn at(&mut self, position: usize) {
        self.position = position;
    }

    /// Byte address of the position's row.
    #[inline(always)]
    pub(super) fn row(&self) -> *const u8 {
        let cache = &self.call.cache;
        let bytes = cache.dtype.bits() / 8;
        // Within the cache, whose extent fits the address space.
        cache.data.wrapping_offset(self.position as isize * cache.stride * bytes as isize)
    }

    /// Cosines and sines of `count` pairs from `first` on: one each where pairs are of two halves, each twice and the sines
    /// of first features negated where they are neighbours.
    ///
    /// # Safety
    /// - The position is one of the cache's, which is valid to read, and the pairs are in its row; `count <= CHUNK`.
    #[inline(always)]
    pub(super) unsafe fn chunk<S: Simd, T: Elem>(
        &mut self,
        s: S,
        first: usize,
        count: usize,
    ) -> (*const f32, *const f32) {
        let pairs = self.call.rotary_dim / 2;
        let row = self.row();
        let plain = self.call.cache.dtype == DType::F32 && !(T::NARROW && self.call.rounded);
        if plain && !self.call.interleaved {
            let row = row.cast::<f32>();
            // SAFETY: the caller's clause.
            return unsafe { (row.add(first), row.add(pairs + first)) };
        }
        if self.held != Some((self.position, first)) {
            self.held = Some((self.position, first));
            let &RotaryCall { cache: CosSin { dtype, .. }, rounded, .. } = self.call;
            // Cosines from `first` on and sines `pairs` behind them, by the caller's clause; the buffers have room.
            for (from, to) in [(first, self.cosines.as_mut_ptr()), (pairs + first, self.sines.as_mut_ptr())] {
                s.run(Widen::<T> { row, dtype, rounded, from, count, to, types: PhantomData });
            }
            if self.call.interleaved {
                spread(&mut self.cosines, count, 1.0);
                spread(&mut self.sines, count, -1.0);
            }
        }
        (self.cosines.as_ptr(), self.sines.as_ptr())
    }
}

/// Brings some elements of a row of the cache to f32, rounded to T where that is asked for. Whoever makes one has a row that is
/// valid to read there, and room for as many numbers.
struct Widen<T> {
    row: *const u8,
    dtype: DType,
    rounded: bool,
    from: usize,
    count: usize,
    to: *mut f32,
    types: PhantomData<fn(T)>,
}

impl<T: Elem> SimdOp for Widen<T> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        // SAFETY: whoever made this has the clauses; each arm names the dtype of the cache.
        unsafe {
            match self.dtype {
                DType::F16 => self.of::<S, f16>(s),
                DType::BF16 => self.of::<S, bf16>(s),
                _ => self.of::<S, f32>(s),
            }
        }
    }
}

impl<T: Elem> Widen<T> {
    /// # Safety
    /// - As whoever makes a [`Widen`] says; `C` is the cache's dtype.
    #[inline(always)]
    unsafe fn of<S: Simd, C: Elem>(&self, s: S) {
        let Widen { row, from, count, to, .. } = *self;
        let rounded = T::NARROW && self.rounded;
        let mut i = 0;
        // SAFETY: the caller's clause, by the loop's bounds.
        unsafe {
            let row = row.cast::<C>().add(from);
            while i + S::LANES <= count {
                let v = C::load(s, row.add(i));
                s.store_f32::<false>(to.add(i), if rounded { T::round(s, v) } else { v });
                i += S::LANES;
            }
            if i < count {
                let v = C::load_tail(s, row.add(i), count - i);
                f32::store_tail(s, to.add(i), count - i, if rounded { T::round(s, v) } else { v });
            }
        }
    }
}

/// Puts each of the first `count` values in twice, the first time with the sign of `sign`.
#[inline(always)]
fn spread(values: &mut [f32; ROOM], count: usize, sign: f32) {
    // From the end, so that no value is overwritten before it is read.
    for i in (0..count).rev() {
        let value = values[i];
        values[2 * i] = sign * value;
        values[2 * i + 1] = value;
    }
}
