// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is done with a normalised value: nothing, or a multiplication by a weight.
//!
//! Which parameters there are, and of which dtype, is the same for every vector of a call. It is a branch that is always
//! foreseen rather than a type parameter, which would multiply the number of compiled kernels for no gain.

use std::marker::PhantomData;

use opweave_tensor::DType;

use super::Columns;
use super::overlap::Ahead;
use super::room::Room;
use crate::memory::load;
use crate::simd::{Elem, Simd};

/// The step from a normalised value to the value that is stored.
///
/// Every method's clause: columns `i..i + n` (`n` = `S::LANES` if `FULL`) are within the row.
pub(super) trait Finish: Copy + Sync {
    /// The kinds that have a loop of their own.
    const LOOPS: Loops = Loops::NONE;

    /// The finished values of columns `i..i + n`. With `round`, intermediate products are rounded to the activation's
    /// dtype.
    ///
    /// # Safety
    /// - See the trait.
    unsafe fn apply<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, y: S::F32, round: bool) -> S::F32;

    /// The same for two vectors from column `i` on, in the pair order of the activation's type.
    ///
    /// # Safety
    /// - Twice `S::LANES` columns from `i` on are within the row.
    unsafe fn apply_pair<S: Simd>(&self, s: S, i: usize, y: [S::F32; 2], round: bool) -> [S::F32; 2];

    /// The same for one value in f64.
    ///
    /// # Safety
    /// - See the trait, with `n` = 1.
    unsafe fn value(&self, i: usize, y: f64, round: bool) -> f64;

    /// Which of the kinds that have a loop of their own this is.
    #[inline(always)]
    fn kind(&self) -> Kind {
        Kind::General
    }

    /// The same step, known at compile time to be of kind `kind`, which [`Finish::kind`] gave.
    #[inline(always)]
    fn known(self, _kind: Kind) -> Self {
        self
    }

    /// Puts the parameters of `width` columns into `room` in f32, where that would spare something; whether it did.
    ///
    /// # Safety
    /// - `width` columns are valid, and there is room for as many.
    #[inline(always)]
    unsafe fn widen<S: Simd>(&self, _s: S, _room: &mut Room, _width: usize) -> bool {
        false
    }

    /// The same step with parameters from where [`Finish::widen`] put those of any row.
    #[inline(always)]
    fn widened(self, _room: &Room) -> Self {
        self
    }

    /// Asks for what the step reads for four vectors from column `i` on, `ahead` of it, where every row has its own.
    #[inline(always)]
    fn fetch<S: Simd>(&self, _s: S, _i: usize, _ahead: Ahead) {}

    /// The same step from `column` on.
    ///
    /// # Safety
    /// - `column` is within the row or its end.
    unsafe fn at(self, column: usize) -> Self;
}

/// The kinds of step that models use most: a loop is compiled for each, since even a branch that is always foreseen costs
/// something in a loop of ten instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Parameters that are all there, of the activation's dtype, without a one.
    Same,
    /// The same plus one.
    PlusOne,
    /// Parameters that are all there, in f32 beside activations of 16 bits, without a one.
    Wide,
    /// No parameters.
    Bare,
    /// Anything.
    General,
}

/// Kinds that a loop is compiled for, with values rounded before the step and without.
#[derive(Clone, Copy)]
pub(super) struct Loops(u8);

impl Loops {
    pub(super) const NONE: Loops = Loops(0);
    pub(super) const ALL: Loops = Loops(0xff);

    /// The loop of one kind, without a rounding.
    pub(super) const fn only(kind: Kind) -> Loops {
        Loops(1 << kind as u8)
    }

    /// Whether there is a loop for `kind`.
    pub(super) const fn has(self, kind: Kind, round: bool) -> bool {
        self.0 >> (kind as u8 + if round { 4 } else { 0 }) & 1 != 0
    }
}

/// Parameters of dtype T or f32, or none.
#[derive(Clone, Copy)]
pub(super) enum Parameters<T> {
    Absent,
    Same(*const T),
    Single(*const f32),
}

// SAFETY: inert data; reading through it is an unsafe operation whose caller answers for races.
unsafe impl<T: Elem> Sync for Parameters<T> {}

impl<T: Elem> Parameters<T> {
    /// The parameters behind `columns`, whose dtype is T's or f32.
    pub(super) fn new(columns: Option<Columns>) -> Self {
        match columns {
            None => Parameters::Absent,
            Some(c) if c.dtype == T::DTYPE => Parameters::Same(c.data.cast()),
            Some(c) => {
                debug_assert_eq!(c.dtype, DType::F32);
                Parameters::Single(c.data.cast())
            }
        }
    }

    /// Columns `i..i + n`, or `None` where there are none.
    ///
    /// # Safety
    /// - Columns `i..i + n` are within the parameters.
    #[inline(always)]
    pub(super) unsafe fn load<S: Simd, const FULL: bool>(self, s: S, i: usize, n: usize) -> Option<S::F32> {
        // SAFETY: the caller's clause.
        unsafe {
            match self {
                Parameters::Absent => None,
                Parameters::Same(p) => Some(load::<S, T, FULL>(s, p.add(i), n)),
                Parameters::Single(p) => Some(load::<S, f32, FULL>(s, p.add(i), n)),
            }
        }
    }

    /// Two vectors from column `i` on in the pair order of T, or `None` where there are none.
    ///
    /// # Safety
    /// - The columns are within the parameters.
    #[inline(always)]
    pub(super) unsafe fn load_pair<S: Simd>(self, s: S, i: usize) -> Option<[S::F32; 2]> {
        // SAFETY: the caller's clause.
        unsafe {
            match self {
                Parameters::Absent => None,
                Parameters::Same(p) => Some(T::load_pair(s, p.add(i))),
                Parameters::Single(p) => Some(T::pair_order(s, f32::load_pair(s, p.add(i)))),
            }
        }
    }

    /// The same parameters, which are of T, in a form whose variant is known at compile time. Others become null.
    #[inline(always)]
    pub(super) fn known_same(self) -> Self {
        match self {
            Parameters::Same(p) => Parameters::Same(p),
            _ => Parameters::Same(std::ptr::null()),
        }
    }

    /// The same for parameters in f32.
    #[inline(always)]
    pub(super) fn known_single(self) -> Self {
        match self {
            Parameters::Single(p) => Parameters::Single(p),
            _ => Parameters::Single(std::ptr::null()),
        }
    }

    /// Writes `width` columns in f32 to `to`, with `plus_one` plus one, if they are of T and that is dear to widen; whether it did.
    ///
    /// # Safety
    /// - `width` columns are valid, and `to` is valid for writing as many.
    #[inline(always)]
    pub(super) unsafe fn widen<S: Simd>(self, s: S, to: *mut f32, width: usize, plus_one: bool) -> bool {
        let Parameters::Same(p) = self else { return false };
        let mut i = 0;
        // SAFETY: the caller's clause, by the loops' bounds.
        unsafe {
            while i + S::LANES <= width {
                let w = T::load(s, p.add(i));
                s.store_f32::<false>(to.add(i), if plus_one { s.add(s.splat(1.0), w) } else { w });
                i += S::LANES;
            }
            while i < width {
                let w = p.add(i).read().to_f64() as f32;
                to.add(i).write(if plus_one { 1.0 + w } else { w });
                i += 1;
            }
        }
        true
    }

    /// Column `i`.
    ///
    /// # Safety
    /// - Column `i` is within the parameters.
    pub(super) unsafe fn value(self, i: usize) -> Option<f64> {
        // SAFETY: the caller's clause.
        unsafe {
            match self {
                Parameters::Absent => None,
                Parameters::Same(p) => Some(p.add(i).read().to_f64()),
                Parameters::Single(p) => Some(f64::from(p.add(i).read())),
            }
        }
    }

    /// The same parameters from `column` on.
    ///
    /// # Safety
    /// - `column` is within the parameters or their end.
    #[inline(always)]
    pub(super) unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the caller's clause.
        unsafe {
            match self {
                Parameters::Absent => Parameters::Absent,
                Parameters::Same(p) => Parameters::Same(p.add(column)),
                Parameters::Single(p) => Parameters::Single(p.add(column)),
            }
        }
    }
}

/// Times `w` or `1 + w`, formed in f32; nothing where there is no weight.
#[derive(Clone, Copy)]
pub(super) struct Weight<T> {
    weight: Parameters<T>,
    plus_one: bool,
    activation: PhantomData<T>,
}

// SAFETY: as for `Parameters`; the rest is data.
unsafe impl<T: Elem> Sync for Weight<T> {}

impl<T: Elem> Weight<T> {
    pub(super) fn new(columns: Option<Columns>, plus_one: bool) -> Self {
        Weight { weight: Parameters::new(columns), plus_one, activation: PhantomData }
    }
}

impl<T: Elem> Finish for Weight<T> {
    const LOOPS: Loops = Loops::ALL;

    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, y: S::F32, _: bool) -> S::F32 {
        // SAFETY: the trait's clause.
        match unsafe { self.weight.load::<S, FULL>(s, i, n) } {
            Some(w) if self.plus_one => s.mul(y, s.add(s.splat(1.0), w)),
            Some(w) => s.mul(y, w),
            None => y,
        }
    }

    #[inline(always)]
    unsafe fn apply_pair<S: Simd>(&self, s: S, i: usize, y: [S::F32; 2], _: bool) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        match unsafe { self.weight.load_pair(s, i) } {
            Some(w) if self.plus_one => {
                let one = s.splat(1.0);
                [s.mul(y[0], s.add(one, w[0])), s.mul(y[1], s.add(one, w[1]))]
            }
            Some(w) => [s.mul(y[0], w[0]), s.mul(y[1], w[1])],
            None => y,
        }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, _: bool) -> f64 {
        // SAFETY: the trait's clause.
        let weight = unsafe { self.weight.value(i) };
        match weight {
            Some(w) if self.plus_one => y * f64::from(1.0 + w as f32),
            Some(w) => y * w,
            None => y,
        }
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        match (self.weight, self.plus_one) {
            (Parameters::Same(_), false) => Kind::Same,
            (Parameters::Same(_), true) => Kind::PlusOne,
            (Parameters::Absent, _) => Kind::Bare,
            (Parameters::Single(_), false) => Kind::Wide,
            (Parameters::Single(_), true) => Kind::General,
        }
    }

    #[inline(always)]
    fn known(self, kind: Kind) -> Self {
        match kind {
            Kind::Same => Weight { weight: self.weight.known_same(), plus_one: false, ..self },
            Kind::PlusOne => Weight { weight: self.weight.known_same(), plus_one: true, ..self },
            Kind::Wide => Weight { weight: self.weight.known_single(), plus_one: false, ..self },
            Kind::Bare => Weight { weight: Parameters::Absent, ..self },
            Kind::General => self,
        }
    }

    #[inline(always)]
    unsafe fn widen<S: Simd>(&self, s: S, room: &mut Room, width: usize) -> bool {
        // SAFETY: the trait's clause.
        unsafe { self.weight.widen(s, room.first_mut(), width, self.plus_one) }
    }

    #[inline(always)]
    fn widened(self, room: &Room) -> Self {
        Weight { weight: Parameters::Single(room.first()), plus_one: false, ..self }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        Weight { weight: unsafe { self.weight.at(column) }, ..self }
    }
}
