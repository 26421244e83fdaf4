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

use opweave_contract::ops::normalization::{
    FusedAddGemmaRmsNorm, FusedAddRmsNorm, FusedAddRmsNormDynamicQuant, GemmaRmsNorm, L2Norm, LayerNorm, RmsNorm,
    RmsNormDynamicQuant, RmsNormGated,
};
use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};
use opweave_tensor::RawTensor;

use crate::Rows;
use crate::native::{self, Native};
use crate::normalization::Columns;
use crate::reference;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<RmsNorm>(registry)?;
    rows::<GemmaRmsNorm>(registry)?;
    rows::<FusedAddRmsNorm>(registry)?;
    rows::<FusedAddGemmaRmsNorm>(registry)?;
    rows::<LayerNorm>(registry)?;
    rows::<L2Norm>(registry)?;
    rows::<RmsNormGated>(registry)?;
    rows::<RmsNormDynamicQuant>(registry)?;
    rows::<FusedAddRmsNormDynamicQuant>(registry)
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}

/// The rows of a `[tokens, hidden_size]` view.
fn rows_of(tensor: &RawTensor) -> Rows {
    Rows { data: tensor.data(), stride: tensor.stride(0) }
}

/// The columns of a `[hidden_size]` view.
fn columns_of(tensor: &RawTensor) -> Columns {
    Columns { data: tensor.data(), dtype: tensor.dtype() }
}
