// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gemma_rms_norm` on slices.

pub use opweave_contract::ops::normalization::{GemmaRmsNorm, GemmaRmsNormArgs, GemmaRmsNormProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(GemmaRmsNorm, GemmaRmsNormProblem);

/// `out = input * rsqrt(mean(input^2) + epsilon) * (1 + weight)`, row by row.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `weight`: `[hidden_size]`.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn gemma_rms_norm<'a>(
    op: &impl Handle<GemmaRmsNorm>,
    rows: Output<'a>,
    weight: impl Into<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args = GemmaRmsNormArgs { input, weight: weight.into().raw(), out, epsilon };
    run(op, &args, stream)
}
