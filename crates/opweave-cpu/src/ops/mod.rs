// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers: from the arguments of a call to a kernel body. One file for each operator.

mod activation;
mod embedding;
mod kv_cache;
mod normalization;
mod quantization;
mod rotary;
mod sampling;
mod softmax;

use opweave_registry::{Registry, RegistryError};

/// Registers every row of this crate.
pub(crate) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    activation::register(registry)?;
    embedding::register(registry)?;
    kv_cache::register(registry)?;
    normalization::register(registry)?;
    quantization::register(registry)?;
    rotary::register(registry)?;
    sampling::register(registry)?;
    softmax::register(registry)?;
    Ok(())
}
