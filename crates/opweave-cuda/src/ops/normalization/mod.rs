// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the normalization family.

mod fused_add_gemma_rms_norm;
mod fused_add_rms_norm;
mod fused_add_rms_norm_dynamic_quant;
mod gemma_rms_norm;
mod l2_norm;
mod layer_norm;
mod rms_norm;
mod rms_norm_dynamic_quant;
mod rms_norm_gated;

use std::sync::Arc;

use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddRmsNorm, FusedAddRmsNormDynamicQuant, GemmaRmsNorm, L2Norm, LayerNorm, RmsNorm,
    RmsNormDynamicQuant, RmsNormGated,
};
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<RmsNorm>(registry, images)?;
    native::register::<GemmaRmsNorm>(registry, images)?;
    native::register::<FusedAddRmsNorm>(registry, images)?;
    native::register::<FusedAddGemmaRmsNorm>(registry, images)?;
    native::register::<LayerNorm>(registry, images)?;
    native::register::<L2Norm>(registry, images)?;
    native::register::<RmsNormGated>(registry, images)?;
    native::register::<RmsNormDynamicQuant>(registry, images)?;
    native::register::<FusedAddRmsNormDynamicQuant>(registry, images)
}
