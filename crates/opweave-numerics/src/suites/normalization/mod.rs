// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Normalization of rows.

mod common;
mod fused_add_gemma_rms_norm;
mod fused_add_rms_norm;
mod fused_add_rms_norm_dynamic_quant;
mod gemma_rms_norm;
mod l2_norm;
mod layer_norm;
mod quantized;
mod rms_norm;
mod rms_norm_dynamic_quant;
mod rms_norm_gated;

use crate::suite::{CatalogDefect, SuiteSet};

pub(super) fn add(set: &mut SuiteSet) -> Result<(), CatalogDefect> {
    set.add(rms_norm::RmsNormSuite)?;
    set.add(gemma_rms_norm::GemmaRmsNormSuite)?;
    set.add(fused_add_rms_norm::FusedAddRmsNormSuite)?;
    set.add(fused_add_gemma_rms_norm::FusedAddGemmaRmsNormSuite)?;
    set.add(layer_norm::LayerNormSuite)?;
    set.add(l2_norm::L2NormSuite)?;
    set.add(rms_norm_gated::RmsNormGatedSuite)?;
    set.add(rms_norm_dynamic_quant::RmsNormDynamicQuantSuite)?;
    set.add(fused_add_rms_norm_dynamic_quant::FusedAddRmsNormDynamicQuantSuite)
}
