// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `quantize_per_tensor` on slices.

pub use opweave_contract::ops::quantization::{QuantizePerTensor, QuantizePerTensorArgs, QuantizePerTensorProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(QuantizePerTensor, QuantizePerTensorProblem);

/// Quantises all rows with one scale: `out = saturate(round(input / scale) + zero_point)`.
///
/// - `input`: `[tokens, hidden_size]`.
/// - `scale`: one f32, finite and above 0.
/// - `zero_point`: one i32 in -128..=127, or none where the problem says so.
/// - `out`: `[tokens, hidden_size]`, the codes.
///
/// # Errors
/// [`CallError`], also for a scale or zero point outside those; nothing is written then.
pub fn quantize_per_tensor<'a>(
    op: &impl Handle<QuantizePerTensor>,
    input: impl Into<AnyRef<'a>>,
    scale: impl Into<AnyRef<'a>>,
    zero_point: Option<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, scale, out) = (input.into().raw(), scale.into().raw(), out.into().raw());
    run(op, &QuantizePerTensorArgs { input, scale, zero_point: zero_point.map(|z| z.raw()), out }, stream)
}
