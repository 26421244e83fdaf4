// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `silu_and_mul` on slices.

pub use opweave_contract::ops::activation::{SiluAndMul, SiluAndMulArgs, SiluAndMulProblem};
use opweave_device::HostStream;
use opweave_tensor::{AnyMut, AnyRef};

use crate::call::{problem_handle, run};
use crate::{CallError, Handle};

problem_handle!(SiluAndMul, SiluAndMulProblem);

/// `out = gate / (1 + e^-gate) * up`, element by element.
///
/// - `input`: `[tokens, 2 * intermediate_size]`, gate and up, or, where the problem says `halves=separate`, the gate alone,
///   `[tokens, intermediate_size]`.
/// - `up`: `[tokens, intermediate_size]` with separate halves, else none.
/// - `out`: `[tokens, intermediate_size]`.
///
/// # Errors
/// [`CallError`]; nothing is written then.
pub fn silu_and_mul<'a>(
    op: &impl Handle<SiluAndMul>,
    input: impl Into<AnyRef<'a>>,
    up: Option<AnyRef<'a>>,
    out: impl Into<AnyMut<'a>>,
    stream: &HostStream,
) -> Result<(), CallError> {
    let (input, out) = (input.into(), out.into());
    run(op, &SiluAndMulArgs { input: input.raw(), up: up.map(|up| up.raw()), out: out.raw() }, stream)
}
