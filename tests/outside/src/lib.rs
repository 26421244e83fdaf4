// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An operator and a solution that opweave does not know.
//!
//! The operator is squared ReLU, the activation of Primer (So et al., "Primer: Searching for Efficient Transformers for
//! Language Modeling", 2021). The solution `outside` has a row for it, and a row for opweave's own `rms_norm`, which an
//! override can choose.

mod relu_squared;
mod rms_norm;
mod solution;

pub use relu_squared::{OPERATIONS, RELU_SQUARED, ReluSquared, ReluSquaredArgs, ReluSquaredProblem};
pub use solution::SOLUTION;
