// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `top_k_top_p_sampling` on slices.

pub use opweave_contract::ops::sampling::{TopKTopPSampling, TopKTopPSamplingArgs, TopKTopPSamplingProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef, TensorRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(TopKTopPSampling, TopKTopPSamplingProblem);

/// How each row of a [`top_k_top_p_sampling`] is drawn; all of them `[tokens]`.
#[derive(Clone, Copy, Debug)]
pub struct DrawBy<'a> {
    /// Tokens that are kept; 0 or -1 for all.
    pub top_k: TensorRef<'a, i32>,
    /// The share of the probabilities that is kept, 0 to 1.
    pub top_p: TensorRef<'a, f32>,
    /// What logits are divided by; 0 for the likeliest token.
    pub temperature: TensorRef<'a, f32>,
    /// The key of the random number.
    pub seeds: TensorRef<'a, u64>,
    /// Its place in the key's sequence.
    pub offsets: TensorRef<'a, u64>,
}

/// A token of each row, drawn from those that `top_k` and `top_p` leave.
///
/// - `logits`: `[tokens, vocab_size]`.
/// - `out`: `[tokens]`, of the problem's `index_dtype`.
///
/// # Errors
/// [`CallError`], also for a parameter outside its legal set; nothing is written then.
pub fn top_k_top_p_sampling<'a>(
    op: &impl Handle<TopKTopPSampling>,
    logits: impl Into<AnyRef<'a>>,
    by: DrawBy<'a>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let args = TopKTopPSamplingArgs {
        logits: logits.into().raw(),
        top_k: by.top_k.raw(),
        top_p: by.top_p.raw(),
        temperature: by.temperature.raw(),
        seeds: by.seeds.raw(),
        offsets: by.offsets.raw(),
        out: out.into().raw(),
    };
    run(op, &args, stream)
}
