// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The embedding family.

#[expect(clippy::module_inception, reason = "the family is called after its operator")]
mod embedding;

pub use embedding::{EMBEDDING, Embedding, EmbeddingArgs, EmbeddingProblem, ID_OUTSIDE_THE_VOCABULARY};

use crate::OperationDecl;

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

/// The operations of this family and the rows that exist for them.
pub const OPERATIONS: &[OperationDecl] = embedding_operators!(declarations);
