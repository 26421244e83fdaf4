// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What every operator computes, in f64: slow, obvious, and the judge of all kernels.
//!
//! A reference works on numbers. It rounds where the numerical mode of the problem rounds, at the end to the dtype of the
//! output, and nowhere else; sums run from left to right. It shares no code with any kernel.
//!
//! - [`Reference`] computes a whole call from [`Arguments`]: what validation compares with.
//! - The `row` functions of [`ops`] compute one row, in buffers of the caller.

mod arguments;
pub mod ops;
mod round;

pub use arguments::{Arguments, FaultAt, ReferenceError, Values};
pub use round::round;

use opweave_contract::Operator;

/// An operator that has a reference.
pub trait Reference: Operator {
    /// Computes one call: reads the inputs among `arguments` and replaces the values of every argument that the operator
    /// writes by the right ones, each a value of its dtype.
    ///
    /// Rows do not depend on each other, so the rows of a large call may be sampled: leave out the same ones everywhere.
    ///
    /// # Errors
    /// [`ReferenceError`] when an argument is missing or has another number of values than its shape says.
    fn reference(problem: &Self::Problem, arguments: &mut Arguments) -> Result<(), ReferenceError>;
}
