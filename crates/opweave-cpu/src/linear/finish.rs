// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From sums to results: bias, activation, one rounding.

use std::ops::Range;

use opweave_contract::ops::linear::LinearActivation;
use opweave_tensor::DType;

use super::{Layer, PANEL, by_float};
use crate::memory::{load_some, store_some};
use crate::simd::math::{times_gelu, times_gelu_tanh, times_silu};
use crate::simd::{Elem, Simd};

/// Writes the results of some panels of some rows. `sums` has, for each panel, a line of [`PANEL`] for each row.
///
/// # Safety
/// - `sums` is valid for reading that many lines.
/// - These elements of the layer's `out` are valid for writing and nobody else's; its bias is valid for reading.
#[inline(always)]
pub(super) unsafe fn finish<S: Simd>(
    s: S,
    layer: &Layer,
    tokens: Range<usize>,
    panels: Range<usize>,
    mut sums: *const f32,
) {
    for panel in panels {
        let columns = layer.columns(panel);
        // SAFETY: the caller's clauses; a panel's lines follow each other.
        unsafe {
            let bias = bias(s, layer.bias, panel * PANEL, columns);
            match layer.out_dtype {
                DType::F32 => lines::<S, f32>(s, layer, tokens.clone(), (panel, columns), &bias, sums),
                DType::F16 => lines::<S, half::f16>(s, layer, tokens.clone(), (panel, columns), &bias, sums),
                DType::BF16 => lines::<S, half::bf16>(s, layer, tokens.clone(), (panel, columns), &bias, sums),
                other => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
            }
            sums = sums.add(tokens.len() * PANEL);
        }
    }
}

/// The bias of a panel's columns, zeros where there is none.
///
/// # Safety
/// - The bias is valid for reading `columns` elements from `first` on.
#[inline(always)]
unsafe fn bias<S: Simd>(s: S, bias: Option<(*const u8, DType)>, first: usize, columns: usize) -> [f32; PANEL] {
    let mut numbers = [0.0; PANEL];
    if let Some((bias, dtype)) = bias {
        by_float!(dtype, |T| {
            for at in (0..columns).step_by(S::LANES) {
                // SAFETY: the caller's clause; the buffer holds whole vectors.
                unsafe {
                    let v = load_some(s, bias.cast::<T>().add(first + at), S::LANES.min(columns - at));
                    s.store_f32::<false>(numbers.as_mut_ptr().add(at), v);
                }
            }
        });
    }
    numbers
}

/// # Safety
/// - As for [`finish`]; `T` is the dtype of `out`.
#[inline(always)]
unsafe fn lines<S: Simd, T: Elem>(
    s: S,
    layer: &Layer,
    tokens: Range<usize>,
    (panel, columns): (usize, usize),
    bias: &[f32; PANEL],
    sums: *const f32,
) {
    for (line, token) in tokens.enumerate() {
        for at in (0..columns).step_by(S::LANES) {
            // SAFETY: the caller's clauses: vector `at` of the line, and as many elements of the row as there are.
            unsafe {
                let mut y = s.load_f32(sums.add(line * PANEL + at));
                // Nothing is added where there is no bias: -0 stays.
                if layer.bias.is_some() {
                    y = s.add(y, s.load_f32(bias.as_ptr().add(at)));
                }
                let y = activate(s, layer.activation, y);
                let out = layer.out.row::<T>(token).add(panel * PANEL + at);
                store_some(s, out, S::LANES.min(columns - at), y, false);
            }
        }
    }
}

#[inline(always)]
fn activate<S: Simd>(s: S, activation: LinearActivation, y: S::F32) -> S::F32 {
    let one = s.splat(1.0);
    match activation {
        LinearActivation::None => y,
        // The second operand where either is NaN.
        LinearActivation::Relu => s.max(s.splat(0.0), y),
        LinearActivation::Silu => times_silu(s, one, y),
        LinearActivation::Gelu => times_gelu(s, one, y),
        LinearActivation::GeluTanh => times_gelu_tanh(s, one, y),
    }
}
