// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the quantization family.

mod dynamic_quant;
mod quantize_per_tensor;

use opweave_contract::ops::quantization::{DynamicQuant, QuantizePerTensor};
use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};
use opweave_tensor::RawTensor;

use crate::Rows;
use crate::native::{self, Native};
use crate::reference;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<QuantizePerTensor>(registry)?;
    rows::<DynamicQuant>(registry)
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}

/// The rows of a `[tokens, hidden_size]` view.
fn rows_of(tensor: &RawTensor) -> Rows {
    Rows { data: tensor.data(), stride: tensor.stride(0) }
}
