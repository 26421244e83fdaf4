// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the embedding family.

#[expect(clippy::module_inception, reason = "the operator that gives the family its name")]
mod embedding;

use std::sync::Arc;

use opweave_contract::ops::embedding::Embedding;
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<Embedding>(registry, images)
}
