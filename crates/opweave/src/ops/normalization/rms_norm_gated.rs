// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `rms_norm_gated` on slices.

pub use opweave_contract::ops::normalization::{RmsNormGated, RmsNormGatedArgs, RmsNormGatedProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(RmsNormGated, RmsNormGatedProblem);

/// The RMS norm of `input`, gated by an activation of `z`, in the order that the problem names.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `z`: `[tokens, hidden_size]`, the gate.
/// - `weight`: `[hidden_size]`, or none where the problem says so.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn rms_norm_gated<'a>(
    op: &impl Handle<RmsNormGated>,
    rows: Output<'a>,
    z: impl Into<AnyRef<'a>>,
    weight: Option<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args = RmsNormGatedArgs { input, z: z.into().raw(), weight: weight.map(|w| w.raw()), out, epsilon };
    run(op, &args, stream)
}
