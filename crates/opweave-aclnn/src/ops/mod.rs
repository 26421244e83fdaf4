// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows by family.

mod activation;
mod embedding;
mod kv_cache;
mod linear;
mod normalization;
mod rotary;
mod sampling;
mod softmax;

use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

/// Registers the rows of all families.
pub(crate) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    activation::register(registry, cann)?;
    embedding::register(registry, cann)?;
    kv_cache::register(registry, cann)?;
    linear::register(registry, cann)?;
    normalization::register(registry, cann)?;
    rotary::register(registry, cann)?;
    sampling::register(registry, cann)?;
    softmax::register(registry, cann)
}
