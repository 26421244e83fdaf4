// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The normalization family.

opweave_contract::normalization_operators!(functions);

pub use opweave_contract::ops::normalization::{Gate, GateOrder, L2Form, QuantMode, Sum, WeightMultiply};
