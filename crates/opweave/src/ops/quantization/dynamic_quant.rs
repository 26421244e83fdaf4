// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `dynamic_quant` on slices.

pub use opweave_contract::ops::quantization::{DynamicQuant, DynamicQuantArgs, DynamicQuantProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(DynamicQuant, DynamicQuantProblem);

/// Quantises each row with a scale of its own: `input = scale * out`, as nearly as codes can.
///
/// - `input`: `[tokens, hidden_size]`.
/// - `out`: `[tokens, hidden_size]`, the codes.
/// - `scale`: `[tokens]`, in the problem's format.
/// - `scale_floor`: the smallest scale, finite; 0 for none.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn dynamic_quant<'a>(
    op: &impl Handle<DynamicQuant>,
    input: impl Into<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    scale: impl Into<AnyMut<'a>>,
    scale_floor: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out, scale) = (input.into().raw(), out.into().raw(), scale.into().raw());
    run(op, &DynamicQuantArgs { input, out, scale, scale_floor }, stream)
}
