// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The quantization family.

mod dynamic_quant;
mod quantize_per_tensor;

pub use dynamic_quant::dynamic_quant;
pub use quantize_per_tensor::quantize_per_tensor;

pub use opweave_contract::ops::quantization::{
    DynamicQuant, DynamicQuantArgs, DynamicQuantProblem, QuantizePerTensor, QuantizePerTensorArgs,
    QuantizePerTensorProblem, ScaleFormat,
};
