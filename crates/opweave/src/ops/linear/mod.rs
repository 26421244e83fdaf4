// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The linear family.

opweave_contract::linear_operators!(functions);

pub use opweave_contract::ops::linear::{
    ConvertError, GgufBlock, PlainCodes, PlainWeight, StoredZero, WeightShape, from_awq, from_gguf, from_gptq,
};
