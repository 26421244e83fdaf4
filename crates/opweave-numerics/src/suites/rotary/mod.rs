// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rotary family.

mod common;
mod fused_qk_norm_rope;
mod rotary_embedding;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(fused_qk_norm_rope::FusedQkNormRopeSuite)?;
    set.add(rotary_embedding::RotaryEmbeddingSuite)?;
    Ok(())
}
