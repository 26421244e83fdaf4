// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the activation family.

mod gelu_and_mul;
mod gelu_tanh_and_mul;
mod silu_and_mul;

use std::sync::Arc;

use opweave_contract::ops::activation::{GeluAndMul, GeluTanhAndMul, SiluAndMul};
use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

use crate::native;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    native::register::<SiluAndMul>(registry, images)?;
    native::register::<GeluAndMul>(registry, images)?;
    native::register::<GeluTanhAndMul>(registry, images)
}
