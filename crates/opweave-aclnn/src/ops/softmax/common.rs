// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the rows of the family share.

use opweave_contract::OpContract;
use opweave_registry::{Domain, Needs};
use opweave_tensor::{DType, RawTensor};

use crate::descriptor::code_of;
use crate::operation::{Attributes, CAST, DIVIDE, LARGEST, Operation, SUBTRACT};
use crate::program::Program;
use crate::vendor::Row;

/// Logits of every dtype; results of `out` alone, if that is given.
pub(super) fn row(contract: &'static OpContract, out: Option<DType>) -> Row {
    let dtypes = [DType::F32, DType::F16, DType::BF16].map(|dtype| vec![Some(dtype)]);
    let needs = match out {
        None => Needs::default().with(Domain::DTypes(vec!["dtype"], dtypes.into())),
        Some(_) => {
            let covered = dtypes.map(|dtypes| [dtypes, vec![out]].concat()).into();
            Needs::default().with(Domain::DTypes(vec!["dtype", "out_dtype"], covered))
        }
    };
    Row::new(contract, needs)
}

/// `operation`, a softmax of rows, in f32. The vendor's operators have no temperature, and say nothing of the dtype in which they
/// sum: logits are shifted by the largest, divided and summed in f32, and rounded once. Divided before they are shifted they would
/// overflow where it is cold.
pub(super) fn program(
    operation: &'static Operation,
    input: &RawTensor,
    out: &RawTensor,
    temperature: f32,
    program: &mut Program,
) {
    if input.is_empty() {
        return;
    }
    let shape = [input.dim(0), input.dim(1)];
    let dtype = |dtype| Attributes::number(code_of(dtype).unwrap_or(-1).into());
    let mut logits = program.argument(input);
    if input.dtype() != DType::F32 {
        let wide = program.scratch_tensor(input, DType::F32, &shape);
        program.push(&CAST, dtype(DType::F32), &[logits, wide]);
        logits = wide;
    }
    if temperature.to_bits() != 1.0_f32.to_bits() {
        let number = |real: f32| Attributes { real: f64::from(real), int: 1, ..Attributes::default() };
        let largest = program.scratch_tensor(input, DType::F32, &[shape[0], 1]);
        program.push(&LARGEST, number(0.0), &[logits, largest]);
        let shifted = program.scratch_tensor(input, DType::F32, &shape);
        program.push(&SUBTRACT, number(1.0), &[logits, largest, shifted]);
        let divided = program.scratch_tensor(input, DType::F32, &shape);
        program.push(&DIVIDE, number(temperature), &[shifted, divided]);
        logits = divided;
    }
    let result = if out.dtype() == DType::F32 {
        program.output(out, &[input], false)
    } else {
        program.scratch_tensor(input, DType::F32, &shape)
    };
    program.push(operation, Attributes::number(1), &[logits, result]);
    if out.dtype() == DType::F32 {
        program.deliver(result, out);
    } else {
        let rounded = program.argument(out);
        program.push(&CAST, dtype(out.dtype()), &[result, rounded]);
    }
}
