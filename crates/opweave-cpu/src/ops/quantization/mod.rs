// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the quantization family.

opweave_contract::quantization_operators!(modules);

use opweave_tensor::RawTensor;

use crate::Rows;

/// The rows of a `[tokens, hidden_size]` view.
fn rows_of(tensor: &RawTensor) -> Rows {
    Rows { data: tensor.data(), stride: tensor.stride(0) }
}
