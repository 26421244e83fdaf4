// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cache of keys and values, in pages.

mod reshape_paged_cache;

pub use reshape_paged_cache::{
    CacheFormat, CacheLayout, RESHAPE_PAGED_CACHE_F8E4M3, RESHAPE_PAGED_CACHE_PLAIN, ReshapePagedCache,
    ReshapePagedCacheArgs, ReshapePagedCacheProblem, SLOT_OUTSIDE_THE_CACHE,
};

use crate::OperationDecl;

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! kv_cache_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] kv_cache:
            reshape_paged_cache: ReshapePagedCache,
        }
    };
}

/// The operations of this family and the rows that exist for them.
pub const OPERATIONS: &[OperationDecl] = kv_cache_operators!(declarations);
