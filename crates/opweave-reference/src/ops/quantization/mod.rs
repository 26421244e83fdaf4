// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Quantization of activations.

opweave_contract::quantization_operators!(modules);

use opweave_contract::ops::quantization::{ScaleFormat, largest_code};
use opweave_tensor::DType;

use crate::round;

/// `number / scale` as f32 divides: the quotient of two f32 numbers in f64 is exact enough to be rounded again.
fn divide(number: f64, scale: f64) -> f64 {
    round(DType::F32, number / scale)
}

/// The code nearest to `value`, ties to even; the largest or smallest one beyond their range. NaN stays NaN as an 8-bit
/// float and is 0 as an i8.
fn code(dtype: DType, i8_range: usize, value: f64) -> f64 {
    match dtype {
        DType::I8 if value.is_nan() => 0.0,
        DType::I8 => value.clamp(-(i8_range as f64), 127.0).round_ties_even(),
        _ => {
            let largest = f64::from(largest_code(dtype));
            round(dtype, value.clamp(-largest, largest))
        }
    }
}

/// The scale of a row: its largest magnitude over the largest code, at least `floor`; 1 for a row of zeros where there is
/// no floor; NaN for a row with an infinity or a NaN.
pub fn row_scale(row: &[f64], codes: DType, format: ScaleFormat, floor: f64) -> f64 {
    if row.iter().any(|v| !v.is_finite()) {
        return f64::NAN;
    }
    let largest = row.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let scale = divide(largest, f64::from(largest_code(codes)));
    let scale = match (largest > 0.0, floor > 0.0) {
        (false, false) => 1.0,
        // Never zero: what rounds to it is the smallest number instead.
        (true, false) => scale.max(2_f64.powi(-149)),
        (_, true) => scale.max(floor),
    };
    match format {
        ScaleFormat::F32 => scale,
        ScaleFormat::PowerOfTwo => {
            let mut power = 2_f64.powi(-127);
            while power < scale {
                power *= 2.0;
            }
            power
        }
    }
}

/// The codes of a row under its scale.
pub fn encode_row(row: &[f64], scale: f64, codes: DType, i8_range: usize, out: &mut [f64]) {
    for (out, &number) in out.iter_mut().zip(row) {
        *out = code(codes, i8_range, divide(number, scale));
    }
}
