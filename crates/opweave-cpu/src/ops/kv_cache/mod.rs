// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the kv_cache family.

mod reshape_paged_cache;

use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};

use crate::native::{self, Native};
use crate::reference;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<opweave_contract::ops::kv_cache::ReshapePagedCache>(registry)?;
    Ok(())
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}
