// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `l2_norm` on slices.

pub use opweave_contract::ops::normalization::{L2Norm, L2NormArgs, L2NormProblem};
use opweave_device::HostStream;
use opweave_tensor::Output;

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(L2Norm, L2NormProblem);

/// `out = input / |input|`, row by row, in the form that the problem names.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn l2_norm(op: &impl Handle<L2Norm>, rows: Output<'_>, epsilon: f32, stream: &HostStream) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args = L2NormArgs { input, out, epsilon };
    run(op, &args, stream)
}
