// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family, and the table that it reads.

opweave_contract::rotary_operators!(functions);

pub use opweave_contract::ops::rotary::{
    Between, Llama3, Products, RotaryElement, RotaryScaling, RotaryStyle, RotaryTable, RotaryTableError, Yarn,
    build_cos_sin_cache,
};
