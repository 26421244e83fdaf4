// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm` on slices.

pub use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(RmsNorm, RmsNormProblem);

/// `out = input * rsqrt(mean(input^2) + epsilon) * weight`, row by row.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `weight`: `[hidden_size]`, or none where the problem says so.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn rms_norm<'a>(
    op: &impl Handle<RmsNorm>,
    rows: Output<'a>,
    weight: Option<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args = RmsNormArgs { input, weight: weight.map(|w| w.raw()), out, epsilon };
    run(op, &args, stream)
}
