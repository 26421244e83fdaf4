// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of the embedding family.

#[expect(clippy::module_inception, reason = "the operator has the name of its family")]
mod embedding;

use opweave_contract::ops::embedding::Embedding;
use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

use crate::vendor;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    vendor::register::<Embedding>(registry, cann)
}
