// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of the normalization family.

mod common;
mod fused_add_rms_norm;
mod layer_norm;
mod rms_norm;

use opweave_contract::ops::normalization::{FusedAddRmsNorm, LayerNorm, RmsNorm};
use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

use crate::vendor;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    vendor::register::<FusedAddRmsNorm>(registry, cann)?;
    vendor::register::<LayerNorm>(registry, cann)?;
    vendor::register::<RmsNorm>(registry, cann)
}
