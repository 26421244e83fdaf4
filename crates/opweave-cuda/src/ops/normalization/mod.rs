// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the normalization family.

mod fused_add_gemma_rms_norm;
mod fused_add_rms_norm;
mod gemma_rms_norm;
mod l2_norm;
mod layer_norm;
mod rms_norm;
mod rms_norm_gated;

use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddRmsNorm, GemmaRmsNorm, L2Norm, LayerNorm, RmsNorm, RmsNormGated,
};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<RmsNorm>(registry)?;
    native::register::<GemmaRmsNorm>(registry)?;
    native::register::<FusedAddRmsNorm>(registry)?;
    native::register::<FusedAddGemmaRmsNorm>(registry)?;
    native::register::<LayerNorm>(registry)?;
    native::register::<L2Norm>(registry)?;
    native::register::<RmsNormGated>(registry)
}
