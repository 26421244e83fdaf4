// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of the rotary family.

mod rotary_embedding;

use opweave_contract::ops::rotary::RotaryEmbedding;
use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

use crate::vendor;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    vendor::register::<RotaryEmbedding>(registry, cann)
}
