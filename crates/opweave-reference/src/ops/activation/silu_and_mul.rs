// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! SiLU of one half of a row, times the other half.

use opweave_contract::ops::activation::{SiluAndMul, SiluAndMulProblem};

use super::gated;
use crate::{Arguments, Reference, ReferenceError};

/// `z / (1 + e^-z)`. `e^-z` may overflow to infinity, which gives the right limit.
pub fn silu(z: f64) -> f64 {
    z / (1.0 + (-z).exp())
}

impl Reference for SiluAndMul {
    fn reference(problem: &SiluAndMulProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &SiluAndMulProblem { intermediate_size, dtype, halves, activation_product, .. } = problem;
        gated(arguments, intermediate_size, dtype, halves, activation_product, silu)
    }
}
