// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_gemma_rms_norm` on slices.

pub use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddGemmaRmsNormArgs, FusedAddGemmaRmsNormProblem,
};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(FusedAddGemmaRmsNorm, FusedAddGemmaRmsNormProblem);

/// `residual += input`, then the RMS norm of the sum times `1 + weight`, row by row.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `residual`: `[tokens, hidden_size]`, replaced by the rounded sum.
/// - `weight`: `[hidden_size]`.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn fused_add_gemma_rms_norm<'a>(
    op: &impl Handle<FusedAddGemmaRmsNorm>,
    rows: Output<'a>,
    residual: impl Into<AnyMut<'a>>,
    weight: impl Into<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args =
        FusedAddGemmaRmsNormArgs { input, residual: residual.into().raw(), weight: weight.into().raw(), out, epsilon };
    run(op, &args, stream)
}
