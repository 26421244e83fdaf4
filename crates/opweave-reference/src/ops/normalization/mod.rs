// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of rows.

opweave_contract::normalization_operators!(modules);

use opweave_contract::ops::normalization::WeightMultiply;
use opweave_tensor::DType;

use crate::round;

/// `sqrt(mean(v^2) + epsilon)`.
fn root_mean_square(values: &[f64], epsilon: f64) -> f64 {
    (sum_of_squares(values) / values.len() as f64 + epsilon).sqrt()
}

/// The sum of squares.
fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum()
}

/// The normalised value times its scale, in the order that the mode says.
fn weigh(multiply: WeightMultiply, dtype: DType, normalised: f64, scale: f64) -> f64 {
    match multiply {
        WeightMultiply::F32 => normalised * scale,
        WeightMultiply::AfterRounding => round(dtype, normalised) * scale,
    }
}

/// The columns of parameters: the weight of column `i`, or `absent` where there is none.
fn column(parameters: Option<&[f64]>, i: usize, absent: f64) -> f64 {
    parameters.map_or(absent, |p| p[i])
}
