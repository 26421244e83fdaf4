// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cache of keys and values, in pages.

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

kv_cache_operators!(family);
