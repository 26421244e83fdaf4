// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Linear layers: a plain sum from left to right.

opweave_contract::linear_operators!(modules);

use opweave_contract::ops::linear::LinearActivation;

use super::activation::gelu_and_mul::gelu;
use super::activation::gelu_tanh_and_mul::gelu_tanh;
use super::activation::silu_and_mul::silu;

/// The activation of a sum.
fn activate(activation: LinearActivation, y: f64) -> f64 {
    match activation {
        LinearActivation::None => y,
        LinearActivation::Relu if y < 0.0 => 0.0,
        LinearActivation::Relu => y,
        LinearActivation::Silu => silu(y),
        LinearActivation::Gelu => gelu(y),
        LinearActivation::GeluTanh => gelu_tanh(y),
    }
}

/// The sum of products. Over nothing it is 0, and not the -0 that `Iterator::sum` begins with.
fn dot(row: &[f64], weight: &[f64]) -> f64 {
    row.iter().zip(weight).fold(0.0, |sum, (x, w)| sum + x * w)
}
