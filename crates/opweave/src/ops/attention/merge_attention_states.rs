// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `merge_attention_states` on slices.

pub use opweave_contract::ops::attention::{
    MergeAttentionStates, MergeAttentionStatesArgs, MergeAttentionStatesProblem,
};
use opweave_device::HostStream;
use opweave_tensor::{AnyRef, Output};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(MergeAttentionStates, MergeAttentionStatesProblem);

/// The attention over two disjoint sets of keys, from the attention over each.
///
/// - `values`: the values of one part and of the result, `[tokens, num_heads, head_dim_v]`, apart or in place.
/// - `lse`: the logarithms of the denominators of that part and of the result, f32, `[tokens, num_heads]`, apart or in place.
/// - `other`: values and logarithms of the other part.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn merge_attention_states<'a>(
    op: &impl Handle<MergeAttentionStates>,
    values: Output<'a>,
    lse: Output<'a>,
    other: [AnyRef<'a>; 2],
    stream: &HostStream,
) -> Result<(), CallError> {
    let ((v_a, out), (lse_a, lse), [v_b, lse_b]) = (values.raw(), lse.raw(), other.map(|o| o.raw()));
    run(op, &MergeAttentionStatesArgs { v_a, lse_a, v_b, lse_b, out, lse }, stream)
}
