// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The last step of a layer norm: a row brought to mean 0 and variance 1, times a weight, plus a bias.

use super::finish::{Finish, Kind, Parameters};
use super::overlap::Write;
use super::room::Room;
use crate::memory::{store, store_two};
use crate::simd::{Elem, Simd};

/// Times weight, plus bias.
#[derive(Clone, Copy)]
pub(super) struct Affine<T> {
    pub(super) weight: Parameters<T>,
    pub(super) bias: Parameters<T>,
}

impl<T: Elem> Finish for Affine<T> {
    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, y: S::F32, _: bool) -> S::F32 {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.load::<S, FULL>(s, i, n), self.bias.load::<S, FULL>(s, i, n)) };
        match (weight, bias) {
            (Some(w), Some(b)) => s.fma(y, w, b),
            (Some(w), None) => s.mul(y, w),
            (None, Some(b)) => s.add(y, b),
            (None, None) => y,
        }
    }

    #[inline(always)]
    unsafe fn apply_pair<S: Simd>(&self, s: S, i: usize, y: [S::F32; 2], _: bool) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.load_pair(s, i), self.bias.load_pair(s, i)) };
        match (weight, bias) {
            (Some(w), Some(b)) => [s.fma(y[0], w[0], b[0]), s.fma(y[1], w[1], b[1])],
            (Some(w), None) => [s.mul(y[0], w[0]), s.mul(y[1], w[1])],
            (None, Some(b)) => [s.add(y[0], b[0]), s.add(y[1], b[1])],
            (None, None) => y,
        }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, _: bool) -> f64 {
        // SAFETY: the trait's clause.
        let (weight, bias) = unsafe { (self.weight.value(i), self.bias.value(i)) };
        let y = weight.map_or(y, |w| y * w);
        bias.map_or(y, |b| y + b)
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        match (self.weight, self.bias) {
            (Parameters::Same(_), Parameters::Same(_)) => Kind::Same,
            (Parameters::Single(_), Parameters::Single(_)) => Kind::Wide,
            _ => Kind::General,
        }
    }

    #[inline(always)]
    fn known(self, kind: Kind) -> Self {
        match kind {
            Kind::Same => Affine { weight: self.weight.known_same(), bias: self.bias.known_same() },
            Kind::Wide => Affine { weight: self.weight.known_single(), bias: self.bias.known_single() },
            _ => self,
        }
    }

    #[inline(always)]
    unsafe fn widen<S: Simd>(&self, s: S, room: &mut Room, width: usize) -> bool {
        // SAFETY: the trait's clause.
        unsafe {
            self.weight.widen(s, room.first_mut(), width, false) && self.bias.widen(s, room.second_mut(), width, false)
        }
    }

    #[inline(always)]
    fn widened(self, room: &Room) -> Self {
        Affine { weight: Parameters::Single(room.first()), bias: Parameters::Single(room.second()) }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Affine { weight: self.weight.at(column), bias: self.bias.at(column) } }
    }
}

/// How a row is brought to mean 0 and variance 1: `(x - centre) * inverse + shift`.
#[derive(Clone, Copy)]
pub(super) struct Centre {
    pub(super) centre: f32,
    pub(super) inverse: f32,
    pub(super) shift: f32,
}

impl Centre {
    #[inline(always)]
    fn normalise<S: Simd>(self, s: S, x: S::F32) -> S::F32 {
        s.fma(s.sub(x, s.splat(self.centre)), s.splat(self.inverse), s.splat(self.shift))
    }
}

/// A row brought to mean 0 and variance 1, times weight, plus bias. Whoever makes one has its columns valid in `input`, `out` and
/// the parameters; with `stream`, `out` is aligned to a vector, and a fence follows.
///
/// Every column is read before it is written, so `out` may be the input.
#[derive(Clone, Copy)]
pub(super) struct Affined<T> {
    pub(super) input: *const T,
    pub(super) out: *mut T,
    pub(super) centre: Centre,
    pub(super) affine: Affine<T>,
    pub(super) stream: bool,
}

impl<S: Simd, T: Elem> Write<S> for Affined<T> {
    #[inline(always)]
    unsafe fn pair(&self, s: S, i: usize) {
        let &Affined { input, out, centre, affine, stream } = self;
        // SAFETY: the trait's clause.
        unsafe {
            let x = T::load_pair(s, input.add(i));
            let y = [centre.normalise(s, x[0]), centre.normalise(s, x[1])];
            store_two(s, out.add(i), affine.apply_pair(s, i, y, false), stream);
        }
    }

    #[inline(always)]
    unsafe fn end(&self, s: S, mut i: usize, end: usize) {
        let &Affined { input, out, centre, affine, stream } = self;
        // SAFETY: the trait's clause.
        unsafe {
            if i + S::LANES <= end {
                let y = centre.normalise(s, T::load(s, input.add(i)));
                let y = affine.apply::<S, true>(s, i, S::LANES, y, false);
                store::<S, T, true>(s, out.add(i), S::LANES, y, stream);
                i += S::LANES;
            }
            if i < end {
                let n = end - i;
                let y = centre.normalise(s, T::load_tail(s, input.add(i), n));
                let y = affine.apply::<S, false>(s, i, n, y, false);
                T::store_tail(s, out.add(i), n, y);
            }
        }
    }
}
