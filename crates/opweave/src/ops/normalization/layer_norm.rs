// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `layer_norm` on slices.

pub use opweave_contract::ops::normalization::{LayerNorm, LayerNormArgs, LayerNormProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(LayerNorm, LayerNormProblem);

/// `out = (input - mean) * rsqrt(variance + epsilon) * weight + bias`, row by row.
///
/// - `rows`: input and result, `[tokens, hidden_size]`, apart or in place.
/// - `weight`: `[hidden_size]`, or none where the problem says so.
/// - `bias`: `[hidden_size]`, or none where the problem says so.
/// - `epsilon`: finite, at least 0.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn layer_norm<'a>(
    op: &impl Handle<LayerNorm>,
    rows: Output<'a>,
    weight: Option<AnyRef<'a>>,
    bias: Option<AnyRef<'a>>,
    epsilon: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    let args = LayerNormArgs { input, weight: weight.map(|w| w.raw()), bias: bias.map(|b| b.raw()), out, epsilon };
    run(op, &args, stream)
}
