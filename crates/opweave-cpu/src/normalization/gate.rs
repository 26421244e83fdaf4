// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization with a gate, before or after.

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::Columns;
use super::finish::{Finish, Kind, Loops, Weight};
use super::overlap::Ahead;
use super::rms::{Common, Statistic, run};
use super::room::Room;
use super::source::{Plain, Source};
use crate::memory::{exceeds_caches, load, prefetch_half, streams};
use crate::rows::Rows;
use crate::simd::{Elem, Isa, Simd, times_sigmoid, times_sigmoid_16, times_silu, times_silu_16, times_silu_16_pair};

/// The function applied to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `z * sigmoid(z)`.
    Silu,
    /// `1 / (1 + e^-z)`.
    Sigmoid,
}

impl Activation {
    /// `y * gate(z)`.
    #[inline(always)]
    fn times<S: Simd>(self, s: S, y: S::F32, z: S::F32) -> S::F32 {
        match self {
            Activation::Silu => times_silu(s, y, z),
            Activation::Sigmoid => times_sigmoid(s, y, z),
        }
    }

    /// The same for two vectors, where the results are rounded to T at once and `z` are the elements at `at`, in T's pair order.
    ///
    /// # Safety
    /// - `at` is valid for reading twice `S::LANES` elements.
    #[inline(always)]
    unsafe fn last_pair<S: Simd, T: Elem>(self, s: S, y: [S::F32; 2], z: [S::F32; 2], at: *const T) -> [S::F32; 2] {
        match self {
            // SAFETY: the caller's clause.
            Activation::Silu if T::NARROW => unsafe { times_silu_16_pair(s, y, z, at) },
            _ => [self.last::<S, T>(s, y[0], z[0]), self.last::<S, T>(s, y[1], z[1])],
        }
    }

    /// The same where the result is rounded to T at once.
    #[inline(always)]
    fn last<S: Simd, T: Elem>(self, s: S, y: S::F32, z: S::F32) -> S::F32 {
        match self {
            Activation::Silu if T::NARROW => times_silu_16(s, y, z),
            Activation::Sigmoid if T::NARROW => times_sigmoid_16(s, y, z),
            _ => self.times(s, y, z),
        }
    }

    /// The same in f64. `e^-z` may overflow to infinity there, which gives the right limit, 0.
    fn value(self, z: f64) -> f64 {
        match self {
            Activation::Silu => z / (1.0 + (-z).exp()),
            Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
        }
    }
}

/// Where the gate is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatePlace {
    /// `norm(input) * weight * gate(z)`.
    AfterNorm,
    /// `norm(input * gate(z)) * weight`.
    BeforeNorm,
}

/// One call: an RMS norm over each group of columns, gated.
///
/// `out` may be `input` itself, with the same strides; apart from that the tensors do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct GatedCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of each row, a multiple of `groups`.
    pub width: usize,
    /// Groups of columns, at least 1.
    pub groups: usize,
    /// The dtype of input, gate and output: f32, f16 or bf16.
    pub dtype: DType,
    /// What is normalised.
    pub input: Rows,
    /// The gate before its activation.
    pub z: Rows,
    /// The result.
    pub out: Rows,
    /// The weight; ones when absent.
    pub weight: Option<Columns>,
    /// Added to the mean of squares.
    pub eps: f64,
    /// The gate's activation.
    pub activation: Activation,
    /// Where the gate is applied.
    pub place: GatePlace,
    /// Whether the normalised value, and its product with the weight if the gate follows, are rounded to the dtype.
    pub round_normalised: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of every tensor, and `width` columns of the weight, lie in memory that is valid for the reads and writes
///   that [`GatedCall`] describes, aligned to their elements, of the stated dtypes (dtype: f32, f16 or bf16; weight: the
///   same or f32).
/// - No two tensors overlap, except that `out` may be `input`.
/// - Nobody else accesses them until this returns.
pub unsafe fn rms_norm_gated(isa: Isa, pool: &dyn Parallel, call: &GatedCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => by_place::<f32>(isa, pool, call),
            DType::F16 => by_place::<f16>(isa, pool, call),
            DType::BF16 => by_place::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`rms_norm_gated`]; `T` is the call's dtype.
unsafe fn by_place<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &GatedCall) {
    let &GatedCall { rows, width, groups, input, z, out, activation, .. } = call;
    let finish = Weight::<T>::new(call.weight, false);
    let common = Common {
        out,
        width: width / groups,
        groups,
        statistic: Statistic::RootMeanSquare { eps: call.eps },
        round: call.round_normalised,
        ahead: exceeds_caches(rows, width * size_of::<T>()),
        stream: streams(rows, width * size_of::<T>(), out, &[input]),
        distance: Ahead::of(width, &[input, z]),
    };
    // SAFETY: the caller's clauses.
    unsafe {
        match call.place {
            GatePlace::BeforeNorm => {
                let source = |row| Product { input: input.row::<T>(row), z: z.row::<T>(row), activation };
                run::<T, _, _>(isa, pool, source, |_| finish, common, rows, 3);
            }
            GatePlace::AfterNorm => {
                let source = |row| Plain(input.row::<T>(row).cast_const());
                let finish = |row| Gated { first: finish, z: z.row::<T>(row).cast_const(), activation };
                run::<T, _, _>(isa, pool, source, finish, common, rows, 3);
            }
        }
    }
}

/// `input * gate(z)`, in f32. Computed in both passes: the second time costs less than a place to keep it.
#[derive(Clone, Copy)]
struct Product<T> {
    input: *const T,
    z: *const T,
    activation: Activation,
}

impl<T: Elem> Source for Product<T> {
    const PRODUCT: bool = true;

    #[inline(always)]
    unsafe fn load<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize) -> S::F32 {
        // SAFETY: the trait's clause.
        let (x, z) = unsafe { (load::<S, T, FULL>(s, self.input.add(i), n), load::<S, T, FULL>(s, self.z.add(i), n)) };
        self.activation.times(s, x, z)
    }

    #[inline(always)]
    unsafe fn load_pair<S: Simd>(&self, s: S, i: usize) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        let (x, z) = unsafe { (T::load_pair(s, self.input.add(i)), T::load_pair(s, self.z.add(i))) };
        [self.activation.times(s, x[0], z[0]), self.activation.times(s, x[1], z[1])]
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize) -> f64 {
        // SAFETY: the trait's clause.
        unsafe { self.input.add(i).read().to_f64() * self.activation.value(self.z.add(i).read().to_f64()) }
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Product { input: self.input.add(column), z: self.z.add(column), ..self } }
    }

    #[inline(always)]
    fn prefetch_half<S: Simd>(&self, s: S, from: usize, i: usize) {
        prefetch_half(s, self.input.wrapping_add(from), i);
        prefetch_half(s, self.z.wrapping_add(from), i);
    }

    #[inline(always)]
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead) {
        ahead.fetch_four(s, self.input.wrapping_add(i));
        ahead.fetch_four(s, self.z.wrapping_add(i));
    }
}

/// The weight, then the gate.
#[derive(Clone, Copy)]
struct Gated<F, T> {
    first: F,
    z: *const T,
    activation: Activation,
}

// SAFETY: inert data; reading through it is the trait's unsafe operations, whose callers answer for races.
unsafe impl<F: Finish, T: Elem> Sync for Gated<F, T> {}

impl<F: Finish, T: Elem> Finish for Gated<F, T> {
    /// The gate of most models, and the weight that is most likely: f16 is widened for many rows at once. There is much code in each.
    const LOOPS: Loops = Loops::only(if matches!(T::DTYPE, DType::F16) { Kind::Wide } else { Kind::Same });

    #[inline(always)]
    unsafe fn apply<S: Simd, const FULL: bool>(&self, s: S, i: usize, n: usize, y: S::F32, round: bool) -> S::F32 {
        // SAFETY: the trait's clause.
        unsafe {
            let y = self.first.apply::<S, FULL>(s, i, n, y, round);
            let y = if round { T::round(s, y) } else { y };
            self.activation.last::<S, T>(s, y, load::<S, T, FULL>(s, self.z.add(i), n))
        }
    }

    #[inline(always)]
    unsafe fn apply_pair<S: Simd>(&self, s: S, i: usize, y: [S::F32; 2], round: bool) -> [S::F32; 2] {
        // SAFETY: the trait's clause.
        unsafe {
            let at = self.z.add(i);
            let (y, z) = (self.first.apply_pair(s, i, y, round), T::load_pair(s, at));
            let y = if round { T::round_pair(s, y) } else { y };
            self.activation.last_pair(s, y, z, at)
        }
    }

    #[inline(always)]
    unsafe fn value(&self, i: usize, y: f64, round: bool) -> f64 {
        // SAFETY: the trait's clause.
        unsafe {
            let y = self.first.value(i, y, round);
            let y = if round { T::from_f64(y).to_f64() } else { y };
            y * self.activation.value(self.z.add(i).read().to_f64())
        }
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        if self.activation == Activation::Silu { self.first.kind() } else { Kind::General }
    }

    #[inline(always)]
    fn known(self, kind: Kind) -> Self {
        Gated { first: self.first.known(kind), activation: Activation::Silu, ..self }
    }

    #[inline(always)]
    unsafe fn widen<S: Simd>(&self, s: S, room: &mut Room, width: usize) -> bool {
        // SAFETY: the trait's clause is the same.
        unsafe { self.first.widen(s, room, width) }
    }

    #[inline(always)]
    fn widened(self, room: &Room) -> Self {
        Gated { first: self.first.widened(room), ..self }
    }

    #[inline(always)]
    fn fetch<S: Simd>(&self, s: S, i: usize, ahead: Ahead) {
        ahead.fetch_four(s, self.z.wrapping_add(i));
    }

    #[inline(always)]
    unsafe fn at(self, column: usize) -> Self {
        // SAFETY: the trait's clause.
        unsafe { Gated { first: self.first.at(column), z: self.z.add(column), ..self } }
    }
}
