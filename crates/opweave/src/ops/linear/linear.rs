// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `linear` on slices.

pub use opweave_contract::ops::linear::{Linear, LinearActivation, LinearArgs, LinearProblem, WeightForm};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(Linear, LinearProblem);

/// `out = activation(input weight^T + bias)`, row by row.
///
/// - `input`: `[tokens, in_features]`.
/// - `weight`: `[out_features, in_features]`, or what [`pack`](crate::pack) made of it where the prepared operator
///   [has a layout](crate::Prepared::packed).
/// - `bias`: `[out_features]`, or none where the problem says so.
/// - `out`: `[tokens, out_features]`.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn linear<'a>(
    op: &impl Handle<Linear>,
    input: impl Into<AnyRef<'a>>,
    weight: impl Into<AnyRef<'a>>,
    bias: Option<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let args = LinearArgs {
        input: input.into().raw(),
        weight: weight.into().raw(),
        bias: bias.map(|b| b.raw()),
        out: out.into().raw(),
    };
    run(op, &args, stream)
}
