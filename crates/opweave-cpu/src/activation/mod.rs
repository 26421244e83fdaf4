// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The activation family: one half of a row through an activation, times the other half.
//!
//! Elements do not depend on each other, so the halves are two operands wherever they stand.

mod function;

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use crate::memory::{is_vector_aligned, load_some, prefetch_step, store_some, store_two, streams};
use crate::rows::{RowKernel, Rows, for_each_row};
use crate::simd::{Elem, Isa, Simd};
use function::{Activation, Gelu, GeluTanh, Silu};

/// The function applied to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateFunction {
    /// `z / (1 + e^-z)`.
    Silu,
    /// `z / 2 (1 + erf(z / sqrt(2)))`.
    Gelu,
    /// `z / 2 (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3)))`.
    GeluTanh,
}

/// One call: `out = function(gate) * up`.
#[derive(Clone, Copy, Debug)]
pub struct ProductCall {
    /// Number of rows; 0 is legal.
    pub rows: usize,
    /// Columns of a row of each operand.
    pub width: usize,
    /// The dtype of all: f32, f16 or bf16.
    pub dtype: DType,
    /// What goes through the function.
    pub gate: Rows,
    /// What multiplies it.
    pub up: Rows,
    /// The result.
    pub out: Rows,
    /// The function.
    pub function: GateFunction,
    /// Whether its value is rounded to the dtype before the product.
    pub round_activation: bool,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of every tensor lies in memory that is valid for the reads and writes that [`ProductCall`] describes, aligned
///   to its elements, of the stated dtype.
/// - `out` overlaps neither `gate` nor `up`.
/// - Nobody else accesses them until this returns.
pub unsafe fn activation_product(isa: Isa, pool: &dyn Parallel, call: &ProductCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => by_function::<f32>(isa, pool, call),
            DType::F16 => by_function::<f16>(isa, pool, call),
            DType::BF16 => by_function::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`activation_product`]; `T` is the call's dtype.
unsafe fn by_function<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &ProductCall) {
    // SAFETY: the caller's clauses.
    unsafe {
        match call.function {
            GateFunction::Silu => run::<T, Silu>(isa, pool, call),
            GateFunction::Gelu => run::<T, Gelu>(isa, pool, call),
            GateFunction::GeluTanh => run::<T, GeluTanh>(isa, pool, call),
        }
    }
}

/// # Safety
/// - As for [`activation_product`]; `T` is the call's dtype.
unsafe fn run<T: Elem, A: Activation>(isa: Isa, pool: &dyn Parallel, call: &ProductCall) {
    let bytes = call.width * size_of::<T>();
    let stream = streams(call.rows, bytes, call.out, &[call.gate, call.up]);
    let kernel = Product::<T, A> { call: *call, stream, types: PhantomData };
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &kernel, call.rows, 3 * bytes) }
}

struct Product<T, A> {
    call: ProductCall,
    stream: bool,
    types: PhantomData<fn(T, A)>,
}

impl<T: Elem, A: Activation> RowKernel for Product<T, A> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        for row in rows.clone() {
            let next = if row + 1 < rows.end { row + 1 } else { row };
            // SAFETY: the trait's clause: both are rows of the call. Rounding to f32 is no rounding.
            unsafe {
                if T::NARROW && self.call.round_activation {
                    self.row::<S, true>(s, row, next);
                } else {
                    self.row::<S, false>(s, row, next);
                }
            }
        }
        if self.stream {
            s.fence();
        }
    }
}

impl<T: Elem, A: Activation> Product<T, A> {
    /// One row. While it is written past the caches, the next one is fetched.
    ///
    /// # Safety
    /// - `row` and `next` are rows of the call, which nobody else writes.
    /// - If `self.stream`, a fence follows.
    #[inline(always)]
    unsafe fn row<S: Simd, const ROUND: bool>(&self, s: S, row: usize, next: usize) {
        let ProductCall { width, gate, up, out, .. } = self.call;
        // SAFETY: the caller's clauses, by the loops' bounds; streamed only where a vector's alignment is given.
        unsafe {
            let (next_gate, next_up) = (gate.row::<T>(next), up.row::<T>(next));
            let (gate, up, out) = (gate.row::<T>(row), up.row::<T>(row), out.row::<T>(row));
            let stream = self.stream && is_vector_aligned::<S, T>(out);
            let mut i = 0;
            while i + 2 * S::LANES <= width {
                if stream {
                    prefetch_step(s, next_gate.wrapping_add(i).cast(), 2 * S::LANES * size_of::<T>());
                    prefetch_step(s, next_up.wrapping_add(i).cast(), 2 * S::LANES * size_of::<T>());
                }
                let (z, y) = (T::load_pair(s, gate.add(i)), T::load_pair(s, up.add(i)));
                let v = [times::<S, T, A, ROUND>(s, y[0], z[0]), times::<S, T, A, ROUND>(s, y[1], z[1])];
                store_two(s, out.add(i), v, stream);
                i += 2 * S::LANES;
            }
            while i < width {
                let n = S::LANES.min(width - i);
                let (z, y) = (load_some(s, gate.add(i), n), load_some(s, up.add(i), n));
                store_some(s, out.add(i), n, times::<S, T, A, ROUND>(s, y, z), stream);
                i += n;
            }
        }
    }
}

/// `y` times the activation of `z`, which is rounded first with `ROUND`.
#[inline(always)]
fn times<S: Simd, T: Elem, A: Activation, const ROUND: bool>(s: S, y: S::F32, z: S::F32) -> S::F32 {
    if ROUND { s.mul(y, T::round(s, A::times::<S, T>(s, s.splat(1.0), z))) } else { A::times::<S, T>(s, y, z) }
}
