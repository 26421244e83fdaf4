// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `gelu_tanh_and_mul` on slices.

pub use opweave_contract::ops::activation::{GeluTanhAndMul, GeluTanhAndMulArgs, GeluTanhAndMulProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(GeluTanhAndMul, GeluTanhAndMulProblem);

/// `out = gate / 2 * (1 + tanh(sqrt(2 / pi) * (gate + 0.044715 * gate^3))) * up`, element by element.
///
/// - `input`: `[tokens, 2 * intermediate_size]`, gate and up, or, where the problem says `halves=separate`, the gate alone,
///   `[tokens, intermediate_size]`.
/// - `up`: `[tokens, intermediate_size]` with separate halves, else none.
/// - `out`: `[tokens, intermediate_size]`.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn gelu_tanh_and_mul<'a>(
    op: &impl Handle<GeluTanhAndMul>,
    input: impl Into<AnyRef<'a>>,
    up: Option<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = (input.into(), out.into());
    run(op, &GeluTanhAndMulArgs { input: input.raw(), up: up.map(|up| up.raw()), out: out.raw() }, stream)
}
