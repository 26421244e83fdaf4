// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the softmax family.

opweave_contract::softmax_operators!(modules);

use opweave_tensor::RawTensor;

use crate::Rows;

/// The rows of a view of rank 2.
fn rows_of(view: &RawTensor) -> Rows {
    Rows { data: view.data(), stride: view.stride(0) }
}
