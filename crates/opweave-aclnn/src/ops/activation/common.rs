// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the rows of the family share.

use opweave_tensor::RawTensor;

use crate::operation::{Attributes, COPY};
use crate::program::{Operand, Program};

/// Gate and up in one tensor, as the vendor's operators take them: copied there, where they are two, and where there are gaps, if
/// `packed`.
pub(super) fn halves(gate: &RawTensor, up: Option<&RawTensor>, packed: bool, program: &mut Program) -> Option<Operand> {
    let Some(up) = up else { return if packed { program.contiguous(gate) } else { program.argument(gate) } };
    let width = gate.dim(1);
    let both = program.scratch_tensor(gate, gate.dtype(), &[gate.dim(0), 2 * width]);
    for (half, from) in [(gate, 0), (up, width)] {
        let (part, half) = (program.columns(both, from, width), program.argument(half));
        program.push(&COPY, Attributes::default(), &[part, half]);
    }
    both
}
