// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Two states of each row into one.

use std::marker::PhantomData;
use std::ops::Range;

use half::{bf16, f16};
use opweave_contract::ops::attention::LseBase;
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::{Activations, Logarithms};
use crate::memory::{load_some, store_some};
use crate::rows::{RowKernel, for_each_row};
use crate::simd::{Elem, Isa, Simd};

/// Results and the logarithms of their denominators.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Results.
    pub values: Activations,
    /// Logarithms.
    pub lse: Logarithms,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct MergeCall {
    /// The two parts.
    pub parts: [Side; 2],
    /// Where the result goes: it may be one of them.
    pub out: Side,
    /// Rows.
    pub tokens: usize,
    /// Heads of a row.
    pub heads: usize,
    /// Features of a value.
    pub width: usize,
    /// The base of the logarithms.
    pub base: LseBase,
    /// dtype of the values.
    pub dtype: DType,
}

// SAFETY: inert data; `merge` answers for what is done through it.
unsafe impl Sync for MergeCall {}

/// Computes `call`.
///
/// # Safety
/// - All that [`MergeCall`] describes lies in memory that is valid to read, and to write where results are; the dtype is f32,
///   f16 or bf16.
/// - Results overlap nothing but a part that they are exactly; nobody else accesses them until this returns.
pub unsafe fn merge(isa: Isa, pool: &dyn Parallel, call: &MergeCall) {
    // SAFETY: the caller's clauses; each arm names the dtype that the call states.
    unsafe {
        match call.dtype {
            DType::F32 => with::<f32>(isa, pool, call),
            DType::F16 => with::<f16>(isa, pool, call),
            DType::BF16 => with::<bf16>(isa, pool, call),
            other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`merge`], of values of type T.
unsafe fn with<T: Elem>(isa: Isa, pool: &dyn Parallel, call: &MergeCall) {
    let bytes = 3 * call.heads * (call.width * size_of::<T>() + size_of::<f32>());
    // SAFETY: the caller's clauses.
    unsafe { for_each_row(isa, pool, &Merge::<T> { call, types: PhantomData }, call.tokens, bytes) }
}

struct Merge<'a, T> {
    call: &'a MergeCall,
    types: PhantomData<fn(T)>,
}

/// What becomes of two logarithms.
enum Weights {
    /// Nothing is there.
    Empty,
    /// Only one of the two is.
    Only(usize),
    /// Each has a share.
    Both([f32; 2]),
}

/// Shares of two states, and the logarithm of both.
fn weigh(base: LseBase, [a, b]: [f32; 2]) -> (Weights, f32) {
    match [a, b].map(|lse| lse == f32::NEG_INFINITY) {
        [true, true] => (Weights::Empty, f32::NEG_INFINITY),
        [true, false] => (Weights::Only(1), b),
        [false, true] => (Weights::Only(0), a),
        [false, false] => {
            let power = |x: f64| if base == LseBase::Two { x.exp2() } else { x.exp() };
            let logarithm = |x: f64| if base == LseBase::Two { x.log2() } else { x.ln() };
            let [a, b] = [a, b].map(f64::from);
            let most = if a > b { a } else { b };
            let (of_a, of_b) = (power(a - most), power(b - most));
            let all = of_a + of_b;
            (Weights::Both([(of_a / all) as f32, (of_b / all) as f32]), (most + logarithm(all)) as f32)
        }
    }
}

impl<T: Elem> RowKernel for Merge<'_, T> {
    #[inline(always)]
    unsafe fn rows<S: Simd>(&self, s: S, rows: Range<usize>) {
        for token in rows {
            for head in 0..self.call.heads {
                // SAFETY: the trait's clauses: a row and a head of the call, which nobody else writes.
                unsafe { self.one(s, token, head) };
            }
        }
    }
}

impl<T: Elem> Merge<'_, T> {
    /// # Safety
    /// - The row and the head exist, and nobody else writes them.
    #[inline(always)]
    unsafe fn one<S: Simd>(&self, s: S, token: usize, head: usize) {
        let MergeCall { parts, out, width, base, .. } = *self.call;
        // SAFETY: the caller's clauses; each element is read before it is written.
        unsafe {
            let (weights, lse) = weigh(base, parts.map(|part| part.lse.at(token, head).read()));
            let [a, b] = parts.map(|part| part.values.at::<T>(token, head).cast_const());
            let to = out.values.at::<T>(token, head);
            match weights {
                Weights::Empty => std::slice::from_raw_parts_mut(to, width).fill(T::default()),
                // Source and target may be the same.
                Weights::Only(part) => std::ptr::copy([a, b][part], to, width),
                Weights::Both([of_a, of_b]) => {
                    let (of_a, of_b, mut i) = (s.splat(of_a), s.splat(of_b), 0);
                    while i < width {
                        let n = S::LANES.min(width - i);
                        let (x, y) = (load_some(s, a.add(i), n), load_some(s, b.add(i), n));
                        store_some(s, to.add(i), n, s.add(s.mul(x, of_a), s.mul(y, of_b)), false);
                        i += n;
                    }
                }
            }
            out.lse.at(token, head).write(lse);
        }
    }
}
