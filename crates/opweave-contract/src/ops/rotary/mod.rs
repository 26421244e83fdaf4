// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rotary position embedding: pairs of features turned by an angle that grows with the position.

/// The operators of this family: the one list that a further one joins.
#[doc(hidden)]
#[macro_export]
macro_rules! rotary_operators {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*] rotary:
            rotary_embedding: RotaryEmbedding,
            fused_qk_norm_rope: FusedQkNormRope,
        }
    };
}

rotary_operators!(family);

mod table;

pub use table::{Llama3, RotaryElement, RotaryScaling, RotaryTable, RotaryTableError, Yarn, build_cos_sin_cache};

use crate::{Legal, choice};

choice! {
    /// Which features form a pair.
    pub enum RotaryStyle {
        /// Feature `i` and feature `i + rotary_dim / 2`: halves (GPT-NeoX, Llama in Transformers).
        Neox = "neox",
        /// Features `2i` and `2i + 1` (GPT-J, Llama as published).
        Interleaved = "interleaved",
    }
}

/// The fault of this family: the row is left unchanged.
pub const POSITION_OUTSIDE_THE_CACHE: &str = "position outside the cache";

/// Heads, and features of a head.
const HEADS: Legal = Legal::Range(1, 1 << 16);
/// Features that are turned: pairs.
const ROTARY_DIMS: Legal = Legal::Multiples(2, 1 << 16);
