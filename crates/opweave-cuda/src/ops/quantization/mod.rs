// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the quantization family.

mod dynamic_quant;
mod quantize_per_tensor;

use std::sync::Arc;

use opweave_contract::ops::quantization::{DynamicQuant, QuantizePerTensor};
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<QuantizePerTensor>(registry, images)?;
    native::register::<DynamicQuant>(registry, images)
}
