// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The kv_cache family.

mod reshape_paged_cache;

pub use reshape_paged_cache::reshape_paged_cache;

pub use opweave_contract::ops::kv_cache::{
    CacheFormat, CacheLayout, ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem,
};
