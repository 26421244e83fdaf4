// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the family of caches.

mod reshape_paged_cache;

use std::sync::Arc;

use opweave_contract::ops::kv_cache::ReshapePagedCache;
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<ReshapePagedCache>(registry, images)
}
