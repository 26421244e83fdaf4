// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm` on slices.

pub use opweave_contract::ops::normalization::{FusedAddRmsNorm, FusedAddRmsNormArgs, FusedAddRmsNormProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(FusedAddRmsNorm, FusedAddRmsNormProblem);

/// `residual += input`, then the RMS norm of the sum times `weight`, row by row.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `residual`: `[tokens, hidden_size]`, replaced by the rounded sum.
/// - `weight`: `[hidden_size]`, or none where the problem says so.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn fused_add_rms_norm<'a>(
    op: &impl Handle<FusedAddRmsNorm>,
    rows: Output<'a>,
    residual: impl Into<AnyMut<'a>>,
    weight: Option<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args =
        FusedAddRmsNormArgs { input, residual: residual.into().raw(), weight: weight.map(|w| w.raw()), out, epsilon };
    run(op, &args, stream)
}
