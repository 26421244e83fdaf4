// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `log_softmax` on slices.

pub use opweave_contract::ops::softmax::{LogSoftmax, LogSoftmaxArgs, LogSoftmaxProblem};
use opweave_device::HostStream;
use opweave_tensor::Output;

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(LogSoftmax, LogSoftmaxProblem);

/// `out = x - ln(sum(e^x))` with `x = input / temperature`, row by row.
///
/// - `rows`: logits and result, `[tokens, width]`, apart or in place.
/// - `temperature`: finite, above 0; 1 leaves the logits as they are.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn log_softmax<'a>(
    op: &impl Handle<LogSoftmax>,
    rows: Output<'a>,
    temperature: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = rows.raw();
    run(op, &LogSoftmaxArgs { input, out, temperature }, stream)
}
