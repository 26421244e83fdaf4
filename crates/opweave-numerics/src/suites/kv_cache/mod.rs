// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The kv_cache family.

mod reshape_paged_cache;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(reshape_paged_cache::ReshapePagedCacheSuite)?;
    Ok(())
}
