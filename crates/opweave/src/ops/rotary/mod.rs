// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family, and the table that it reads.

mod fused_qk_norm_rope;
mod rotary_embedding;

pub use fused_qk_norm_rope::fused_qk_norm_rope;
pub use rotary_embedding::rotary_embedding;

pub use opweave_contract::ops::rotary::{
    Between, FusedQkNormRope, FusedQkNormRopeArgs, FusedQkNormRopeProblem, Llama3, Products, RotaryElement,
    RotaryEmbedding, RotaryEmbeddingArgs, RotaryEmbeddingProblem, RotaryScaling, RotaryStyle, RotaryTable,
    RotaryTableError, Yarn, build_cos_sin_cache,
};
