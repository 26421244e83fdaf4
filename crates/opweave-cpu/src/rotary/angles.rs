// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cosines and sines of one token, as the loops over its heads read them.

use half::{bf16, f16};
use opweave_tensor::DType;

use super::RotaryCall;
use crate::simd::{Elem, Simd};

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
            let (cosines, sines) = (self.cosines.as_mut_ptr(), self.sines.as_mut_ptr());
            // SAFETY: the caller's clause: cosines from `first` on and sines `pairs` behind them; the buffers have room.
            unsafe {
                match self.call.cache.dtype {
                    DType::F16 => self.widen::<S, T, f16>(s, row.cast(), first, count, cosines, sines),
                    DType::BF16 => self.widen::<S, T, bf16>(s, row.cast(), first, count, cosines, sines),
                    _ => self.widen::<S, T, f32>(s, row.cast(), first, count, cosines, sines),
                }
            }
            if self.call.interleaved {
                spread(&mut self.cosines, count, 1.0);
                spread(&mut self.sines, count, -1.0);
            }
        }
        (self.cosines.as_ptr(), self.sines.as_ptr())
    }

    /// # Safety
    /// - As for [`Self::chunk`]; `C` is the cache's dtype, and both targets have room for `count` elements.
    #[inline(always)]
    unsafe fn widen<S: Simd, T: Elem, C: Elem>(
        &self,
        s: S,
        row: *const C,
        first: usize,
        count: usize,
        cosines: *mut f32,
        sines: *mut f32,
    ) {
        let pairs = self.call.rotary_dim / 2;
        let rounded = T::NARROW && self.call.rounded;
        for (from, to) in [(first, cosines), (pairs + first, sines)] {
            let mut i = 0;
            // SAFETY: the caller's clause, by the loop's bounds.
            unsafe {
                while i + S::LANES <= count {
                    let v = C::load(s, row.add(from + i));
                    s.store_f32::<false>(to.add(i), if rounded { T::round(s, v) } else { v });
                    i += S::LANES;
                }
                if i < count {
                    let v = C::load_tail(s, row.add(from + i), count - i);
                    f32::store_tail(s, to.add(i), count - i, if rounded { T::round(s, v) } else { v });
                }
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
