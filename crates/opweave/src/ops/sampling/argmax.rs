// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `argmax` on slices.

pub use opweave_contract::ops::sampling::{Argmax, ArgmaxArgs, ArgmaxProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(Argmax, ArgmaxProblem);

/// The smallest index of the largest element of each row.
///
/// - `logits`: `[tokens, vocab_size]`.
/// - `out`: `[tokens]`, of the problem's `index_dtype`.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn argmax<'a>(
    op: &impl Handle<Argmax>,
    logits: impl Into<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    run(op, &ArgmaxArgs { logits: logits.into().raw(), out: out.into().raw() }, stream)
}
