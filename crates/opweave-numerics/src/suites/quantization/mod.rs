// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The quantization family.

mod common;
mod dynamic_quant;
mod quantize_per_tensor;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(quantize_per_tensor::QuantizePerTensorSuite)?;
    set.add(dynamic_quant::DynamicQuantSuite)
}
