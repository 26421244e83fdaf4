// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The embedding family.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! embedding_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] embedding:
            embedding: Embedding,
        }
    };
}

embedding_operators!(family);
