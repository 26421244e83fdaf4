// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GELU with a hyperbolic tangent of one half of a row, times the other half.

use opweave_contract::ops::activation::{GeluTanhAndMul, GeluTanhAndMulProblem};

use super::gated;
use crate::{Arguments, Reference, ReferenceError};

/// `z / 2 * (1 + tanh(u))`, as `z / (1 + e^(-2 u))`: on the left the sum would lose what is left.
pub fn gelu_tanh(z: f64) -> f64 {
    let u = std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 * (z + 0.044715 * z * z * z);
    z / (1.0 + (-2.0 * u).exp())
}

impl Reference for GeluTanhAndMul {
    fn reference(problem: &GeluTanhAndMulProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &GeluTanhAndMulProblem { intermediate_size, dtype, halves, activation_product, .. } = problem;
        gated(arguments, intermediate_size, dtype, halves, activation_product, gelu_tanh)
    }
}
