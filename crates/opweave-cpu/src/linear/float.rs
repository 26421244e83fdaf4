// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Weights in floating point.

use std::marker::PhantomData;
use std::ops::Range;

use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use super::body::{Piece, Product, Scratch, multiply};
use super::tile::Run;
use super::{Layer, PANEL, UNIT, Weight, by_float, panels, tile};
use crate::simd::{Elem, Isa, Simd};

/// A linear layer with a weight in floating point.
#[derive(Clone, Copy, Debug)]
pub struct FloatCall {
    /// Sizes, input, bias, result.
    pub layer: Layer,
    /// The weight: [`pack_floats`](super::pack_floats) made the packed one on this instruction set.
    pub weight: Weight,
    /// Its dtype: f32, f16 or bf16.
    pub weight_dtype: DType,
}

/// Computes `call`.
///
/// # Safety
/// - Every row of the input, of the result, of the weight or its packed bytes, and the bias lie in memory that is valid for
///   what is done to it, aligned to their elements, of the stated dtypes and sizes.
/// - The result overlaps nothing else, and nobody else touches it until this returns, or writes the rest.
pub unsafe fn float_linear(isa: Isa, pool: &dyn Parallel, call: &FloatCall) {
    by_float!(call.weight_dtype, |T| {
        let product = Floats::<T> { call: *call, dtype: PhantomData };
        // SAFETY: the caller's clauses; `T` is the weight's dtype.
        unsafe { multiply(isa, pool, &product) }
    });
}

struct Floats<T> {
    call: FloatCall,
    dtype: PhantomData<fn(T)>,
}

/// How far ahead of its use a weight is fetched that is read once: long enough for memory to answer, and near enough for the first cache
/// (docs/performance/linear.md).
const AHEAD: isize = 2048;

impl<T: Elem> Product for Floats<T> {
    const QUANTIZE: bool = false;

    fn layer(&self) -> &Layer {
        &self.call.layer
    }

    fn panel_bytes(&self) -> usize {
        PANEL * self.call.layer.in_features * size_of::<T>()
    }

    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        s: S,
        panels: Range<usize>,
        piece: &Piece,
        scratch: &mut Scratch,
        sums: *mut f32,
    ) {
        let (mut panel, mut sums) = (panels.start, sums);
        let lines = piece.tokens.len() * PANEL;
        let together = matches!(self.call.weight, Weight::Packed(_)) && piece.tokens.len() <= tile::FEW;
        // SAFETY: the caller's clauses: panels and their sums, one after the other.
        unsafe {
            while together && S::LANES >= 8 && panels.end - panel >= 2 {
                self.panels::<S, 2>(s, panel, piece, scratch, sums);
                (panel, sums) = (panel + 2, sums.add(2 * lines));
            }
            while panel < panels.end {
                self.panels::<S, 1>(s, panel, piece, scratch, sums);
                (panel, sums) = (panel + 1, sums.add(lines));
            }
        }
    }
}

impl<T: Elem> Floats<T> {
    /// Adds the products of `PANELS` panels.
    ///
    /// # Safety
    /// - As for [`Product::multiply`].
    #[inline(always)]
    unsafe fn panels<S: Simd, const PANELS: usize>(
        &self,
        s: S,
        panel: usize,
        piece: &Piece,
        scratch: &mut Scratch,
        sums: *mut f32,
    ) {
        let layer = &self.call.layer;
        let tokens = piece.tokens.len();
        let pitch = layer.in_features * PANEL;
        // What follows in memory is read next where all columns are at hand, else the same columns of the next panel.
        let all = piece.columns.len() == layer.in_features;
        let next = if all { AHEAD } else { self.panel_bytes() as isize };
        for start in piece.columns.clone().step_by(UNIT) {
            let len = UNIT.min(piece.columns.end - start);
            // SAFETY: the caller's clauses: lines of these panels, rows of this run; a run of a panel fits the scratch, whose numbers
            // are no smaller than those of the weight.
            unsafe {
                let x = scratch.input.as_ptr().cast::<f32>().add((start - piece.columns.start) * tokens);
                let (lines, ahead) = match self.call.weight {
                    Weight::Packed(packed) => (packed.cast::<T>().add(panel * pitch + start * PANEL), next),
                    Weight::Plain(rows) => {
                        let lines = scratch.run.as_mut_ptr().cast::<T>();
                        let some = (panel * PANEL, layer.columns(panel));
                        panels::gather(s, rows, some, start..start + len, lines);
                        (lines.cast_const(), 0)
                    }
                };
                tile::run::<S, T, PANELS>(s, (x, tokens), Run { lines, len, pitch, ahead, soon: all }, sums);
            }
        }
    }
}
