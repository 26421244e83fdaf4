// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear_wna16` on slices.

pub use opweave_contract::ops::linear::{InputMode, LinearWna16, LinearWna16Args, LinearWna16Problem, WeightOffset};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(LinearWna16, LinearWna16Problem);

/// `out = activation(input weight^T + bias)`, row by row, with a weight of codes.
///
/// - `input`: `[tokens, in_features]`.
/// - `weight`: bytes `[out_features, in_features * bits / 8]`, or what [`pack`](crate::pack) made of them where the
///   prepared operator [has a layout](crate::Prepared::packed).
/// - `scales`: `[in_features / group_size, out_features]`.
/// - `offsets`: like `scales`, or none where the problem says so.
/// - `bias`: `[out_features]`, or none where the problem says so.
/// - `out`: `[tokens, out_features]`.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn linear_wna16<'a>(
    op: &impl Handle<LinearWna16>,
    input: impl Into<AnyRef<'a>>,
    (weight, scales, offsets): (AnyRef<'a>, AnyRef<'a>, Option<AnyRef<'a>>),
    bias: Option<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let args = LinearWna16Args {
        input: input.into().raw(),
        weight: weight.raw(),
        scales: scales.raw(),
        offsets: offsets.map(|o| o.raw()),
        bias: bias.map(|b| b.raw()),
        out: out.into().raw(),
    };
    run(op, &args, stream)
}
