// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of the activation family.

mod common;
mod gelu_tanh_and_mul;
mod silu_and_mul;

use opweave_contract::ops::activation::{GeluTanhAndMul, SiluAndMul};
use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

use crate::vendor;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    vendor::register::<GeluTanhAndMul>(registry, cann)?;
    vendor::register::<SiluAndMul>(registry, cann)
}
