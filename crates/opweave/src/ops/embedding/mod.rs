// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The embedding family.

#[expect(clippy::module_inception, reason = "the family is called after its operator")]
mod embedding;

pub use embedding::embedding;

pub use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem};
