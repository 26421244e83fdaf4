// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the normalization family.

opweave_contract::normalization_operators!(modules);

use opweave_tensor::RawTensor;

use crate::Rows;
use crate::normalization::Columns;

/// The rows of a `[tokens, hidden_size]` view.
fn rows_of(tensor: &RawTensor) -> Rows {
    Rows { data: tensor.data(), stride: tensor.stride(0) }
}

/// The columns of a `[hidden_size]` view.
fn columns_of(tensor: &RawTensor) -> Columns {
    Columns { data: tensor.data(), dtype: tensor.dtype() }
}
