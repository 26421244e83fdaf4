// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers by family.

mod activation;
mod embedding;
mod kv_cache;
mod normalization;
mod quantization;
mod rotary;
mod sampling;
mod softmax;

use std::sync::Arc;

use opweave_kernels_cuda::{ImageError, Images};
use opweave_registry::{Registry, RegistryError};

/// Registers the rows of all families.
pub(crate) fn register(registry: &mut Registry, images: &Result<Arc<Images>, ImageError>) -> Result<(), RegistryError> {
    activation::register(registry, images)?;
    embedding::register(registry, images)?;
    kv_cache::register(registry, images)?;
    normalization::register(registry, images)?;
    quantization::register(registry, images)?;
    rotary::register(registry, images)?;
    sampling::register(registry, images)?;
    softmax::register(registry, images)
}
