// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Heads whose norm f32 cannot do: the same formulas in f64, one pair at a time. See `normalization::exact`.

use half::{bf16, f16};
use opweave_tensor::DType;

use super::{HeadNorm, RotaryCall};
use crate::normalization::{Columns, Statistic};
use crate::simd::Elem;

/// The number at `i` of a vector of f32, f16 or bf16.
///
/// # Safety
/// - Element `i` is valid to read.
unsafe fn number(Columns { data, dtype }: Columns, i: usize) -> f64 {
    // SAFETY: the caller's clause.
    unsafe {
        match dtype {
            DType::F16 => data.cast::<f16>().add(i).read().to_f64(),
            DType::BF16 => data.cast::<bf16>().add(i).read().to_f64(),
            _ => f64::from(data.cast::<f32>().add(i).read()),
        }
    }
}

/// Normalises and turns one head; `row` is its position's row of the cache.
///
/// # Safety
/// - `head_dim` elements from `x` on are valid to read and write, the row and the weight to read.
#[cold]
#[inline(never)]
pub(super) unsafe fn head<T: Elem>(x: *mut T, norm: &HeadNorm, call: &RotaryCall, row: *const u8) {
    let mut sum = 0.0;
    for i in 0..call.head_dim {
        // SAFETY: the caller's clause: `i < head_dim`.
        let v = unsafe { x.add(i).read().to_f64() };
        sum += v * v;
    }
    let inverse = 1.0 / Statistic::RootMeanSquare { eps: norm.eps }.divisor(sum, call.head_dim);
    let value = |i: usize| {
        // SAFETY: the caller's clause, for a feature of the head; the weight has one for each.
        let (v, weight) = unsafe { (x.add(i).read(), norm.weight.map_or(1.0, |weight| number(weight, i))) };
        let y = v.to_f64() * inverse * weight;
        if norm.round { T::from_f64(y).to_f64() } else { y }
    };
    let pairs = call.rotary_dim / 2;
    let angles = Columns { data: row, dtype: call.cache.dtype };
    for pair in 0..pairs {
        let (i, j) = if call.interleaved { (2 * pair, 2 * pair + 1) } else { (pair, pairs + pair) };
        let (a, b) = (value(i), value(j));
        // SAFETY: the caller's clause, for a pair of the head.
        unsafe {
            let (cosine, sine) = (number(angles, pair), number(angles, pairs + pair));
            x.add(i).write(T::from_f64(a * cosine - b * sine));
            x.add(j).write(T::from_f64(b * cosine + a * sine));
        }
    }
    for i in call.rotary_dim..call.head_dim {
        let y = value(i);
        // SAFETY: the caller's clause, for a feature of the head.
        unsafe { x.add(i).write(T::from_f64(y)) };
    }
}
