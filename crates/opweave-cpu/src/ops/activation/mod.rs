// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the activation family.

opweave_contract::activation_operators!(modules);

use opweave_tensor::RawTensor;

use crate::Rows;

/// The rows of a view of rank 2.
fn rows_of(view: &RawTensor) -> Rows {
    Rows { data: view.data(), stride: view.stride(0) }
}

/// Gate and up: the two halves of `input`'s rows, or two tensors.
fn halves_of(input: &RawTensor, up: Option<&RawTensor>, width: usize) -> (Rows, Rows) {
    let gate = rows_of(input);
    let behind = || Rows { data: gate.data.wrapping_add(width * (input.dtype().bits() / 8)), stride: gate.stride };
    (gate, up.map_or_else(behind, rows_of))
}
