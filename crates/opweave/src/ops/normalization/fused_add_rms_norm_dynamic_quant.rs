// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `fused_add_rms_norm_dynamic_quant` on slices.

pub use opweave_contract::ops::normalization::{
    FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantArgs, FusedAddRmsNormDynamicQuantProblem,
};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(FusedAddRmsNormDynamicQuant, FusedAddRmsNormDynamicQuantProblem);

/// `residual += input`, then normalises the sums and quantises each row with a scale of its own.
///
/// - `input`: `[tokens, hidden_size]`.
/// - `residual`: `[tokens, hidden_size]`, replaced by the rounded sum.
/// - `weight`: `[hidden_size]`, or none where the problem says so.
/// - `codes`: the codes, `[tokens, hidden_size]`, and their scales, `[tokens]`, in the problem's formats.
/// - `epsilon`, `scale_floor`: finite, at least 0; a floor of 0 is none.
///
/// # Errors
/// [`CallError`]; nothing is written then.
#[expect(clippy::too_many_arguments, reason = "the tensors and scalars of the operator, one each")]
pub fn fused_add_rms_norm_dynamic_quant<'a>(
    op: &impl Handle<FusedAddRmsNormDynamicQuant>,
    input: impl Into<AnyRef<'a>>,
    residual: impl Into<AnyMut<'a>>,
    weight: Option<AnyRef<'a>>,
    codes: (AnyMut<'a>, AnyMut<'a>),
    epsilon: f32,
    scale_floor: f32,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (out, scale) = (codes.0.raw(), codes.1.raw());
    let (input, weight) = (input.into().raw(), weight.map(|w| w.raw()));
    let residual = residual.into().raw();
    run(op, &FusedAddRmsNormDynamicQuantArgs { input, residual, weight, out, scale, epsilon, scale_floor }, stream)
}
