// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Indices that may lie outside their table. No operator of the vendor's that takes indices says what it does then, so they are
//! drawn inside first, and what was outside is known by the difference.

use opweave_device::operation_code;
use opweave_tensor::{DType, RawTensor};

use crate::operation::{Attributes, Operation, operation};
use crate::program::{Operand, Program};

operation! {
    /// `out = max(min(self, clipValueMax), clipValueMin)`.
    CLAMP = "aclnnClamp"(tensor(0), integer, upper, tensor(1))
}
operation! {
    /// `out = self != other`.
    DIFFERS = "aclnnNeTensor"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// `out = self == other`.
    EQUALS = "aclnnEqTensor"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// Whether any of a dimension is true.
    ANY = "aclnnAny"(tensor(0), ints, keep, tensor(1))
    ints |_| 0;
}
operation! {
    /// The index of a largest element of a dimension, which goes.
    ARG_MAX = "aclnnArgMax"(tensor(0), int, drop, tensor(1))
}
operation! {
    /// `out = self == other`, a number.
    EQUALS_NUMBER = "aclnnEqScalar"(tensor(0), integer, tensor(1))
}
operation! {
    /// `out = self && other`.
    BOTH = "aclnnLogicalAnd"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// `selfRef = value` where `mask` is true.
    FILL = "aclnnInplaceMaskedFillTensor"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// `selfRef = value`, an integer, where `mask` is true.
    FILL_INTEGER = "aclnnInplaceMaskedFillScalar"(tensor(0), tensor(1), integer)
}

/// What [`inside`] and [`raise`] call.
pub(crate) const OPERATIONS: [&Operation; 9] =
    [&CLAMP, &DIFFERS, &EQUALS, &ANY, &ARG_MAX, &EQUALS_NUMBER, &BOTH, &FILL, &FILL_INTEGER];

/// The words of a fault buffer: its state, which is 0 while it is empty and 2 when it is full, operation and clause, and row.
const EMPTY: i64 = 0;
const FULL: i64 = 2;

/// `indices` drawn into `low..=high`, and which of them were outside.
pub(crate) fn inside(
    indices: Option<Operand>,
    (low, high): (usize, usize),
    program: &mut Program,
) -> (Option<Operand>, Option<Operand>) {
    let Some(Operand { view, .. }) = indices else { return (None, None) };
    let drawn = program.scratch_tensor(&view, view.dtype(), view.shape());
    let limits = Attributes { int: low as i64, limit: high as i64, ..Attributes::default() };
    program.push(&CLAMP, limits, &[indices, drawn]);
    let outside = program.scratch_tensor(&view, DType::Bool, view.shape());
    program.push(&DIFFERS, Attributes::default(), &[indices, drawn, outside]);
    (drawn, outside)
}

/// All of `indices`, where a table has no rows.
pub(crate) fn all(indices: Option<Operand>, program: &mut Program) -> Option<Operand> {
    let Operand { view, .. } = indices?;
    let outside = program.scratch_tensor(&view, DType::Bool, view.shape());
    program.push(&EQUALS, Attributes::default(), &[indices, indices, outside]);
    outside
}

/// Raises a fault of `operation` if any of `outside` is true, in a row of which it is. Nothing where the call has no buffer.
///
/// The state is looked at and written by several operators, in the order of the stream: of two streams that raise faults into one
/// buffer at the same moment, one may write the row and the other the clause.
pub(crate) fn raise(operation: &str, clause: u32, outside: Option<Operand>, program: &mut Program) {
    let (Some(words), Some(Operand { view, .. })) = (program.faults(), outside) else { return };
    let tokens = view.dim(0);
    let word = |at: usize| match RawTensor::contiguous(words.wrapping_add(8 * at), DType::I64, view.device(), &[1]) {
        Ok(word) => program.argument(&word),
        Err(_) => None,
    };
    let [state, code, row] = [word(0), word(1), word(2)];
    let flag = |program: &mut Program| program.scratch_tensor(&view, DType::Bool, &[1]);
    let (any, empty, raised) = (flag(program), flag(program), flag(program));
    let place = program.scratch_tensor(&view, DType::I64, &[]);
    let number = |int: i64| Attributes { int, ..Attributes::default() };
    program.push(&ANY, number(0), &[outside, any]);
    let bytes = program.reshaped(outside, DType::U8, &[tokens]);
    program.push(&ARG_MAX, number(0), &[bytes, place]);
    program.push(&EQUALS_NUMBER, number(EMPTY), &[state, empty]);
    program.push(&BOTH, number(0), &[any, empty, raised]);
    program.push(&FILL, number(0), &[row, raised, place]);
    let named = u64::from(operation_code(operation)) << 32 | u64::from(clause);
    program.push(&FILL_INTEGER, number(named.cast_signed()), &[code, raised]);
    program.push(&FILL_INTEGER, number(FULL), &[state, raised]);
}
