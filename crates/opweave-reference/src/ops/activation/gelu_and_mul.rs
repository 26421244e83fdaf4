// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! GELU of one half of a row, times the other half.

use opweave_contract::ops::activation::{GeluAndMul, GeluAndMulProblem};

use super::gated;
use crate::{Arguments, Reference, ReferenceError};

/// `z / 2 * (1 + erf(z / sqrt(2)))`, as `z / 2 * erfc(-z / sqrt(2))`: on the left the sum would lose what is left.
pub fn gelu(z: f64) -> f64 {
    z * 0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

impl Reference for GeluAndMul {
    fn reference(problem: &GeluAndMulProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &GeluAndMulProblem { intermediate_size, dtype, halves, activation_product, .. } = problem;
        gated(arguments, intermediate_size, dtype, halves, activation_product, gelu)
    }
}
