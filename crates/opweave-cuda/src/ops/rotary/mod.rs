// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the rotary family.

mod fused_qk_norm_rope;
mod rotary_embedding;

use std::sync::Arc;

use opweave_contract::ops::rotary::{FusedQkNormRope, RotaryEmbedding};
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<RotaryEmbedding>(registry, images)?;
    native::register::<FusedQkNormRope>(registry, images)
}
