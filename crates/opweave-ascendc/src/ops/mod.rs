// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers by family.

mod activation;
mod normalization;
mod quantization;
mod rotary;

use std::sync::Arc;

use opweave_contract::ops::activation::SiluAndMul;
use opweave_contract::ops::normalization::{FusedAddRmsNorm, RmsNorm};
use opweave_contract::ops::quantization::DynamicQuant;
use opweave_contract::ops::rotary::RotaryEmbedding;
use opweave_kernels_npu::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers all rows.
pub(crate) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<DynamicQuant>(registry, images)?;
    native::register::<FusedAddRmsNorm>(registry, images)?;
    native::register::<RmsNorm>(registry, images)?;
    native::register::<RotaryEmbedding>(registry, images)?;
    native::register::<SiluAndMul>(registry, images)
}
