// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `embedding` on slices.

pub use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(Embedding, EmbeddingProblem);

/// `out[t] = table[ids[t]]`, or of a shard of the table: its row where the id is in the shard, else zeros.
///
/// - `ids`: `[tokens]`.
/// - `table`: `[shard_end - shard_start, hidden_size]`, by default the whole vocabulary.
/// - `out`: `[tokens, hidden_size]`.
///
/// # Errors
/// [`CallError`], also for an id outside the vocabulary; nothing is written then.
pub fn embedding<'a>(
    op: &impl Handle<Embedding>,
    ids: impl Into<AnyRef<'a>>,
    table: impl Into<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let args = EmbeddingArgs { ids: ids.into().raw(), table: table.into().raw(), out: out.into().raw() };
    run(op, &args, stream)
}
