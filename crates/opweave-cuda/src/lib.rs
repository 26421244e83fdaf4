// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The CUDA solution: native kernels, and the rows that they are registered as, `cuda.native.<op>`.
//!
//! Kernels are images built ahead of time (`opweave-kernels-cuda`); a row whose image is missing is listed as not built. A plan
//! holds the kernels that its problem may need, loaded and found; a call is the choice between them, the packing of one struct
//! and one launch. Rows exist on every machine: selection can be asked about a GPU that is not there.

mod activation;
pub mod ceilings;
mod flags;
mod native;
pub mod normalization;
mod ops;
mod quantization;
mod rotary;
mod rows;
mod softmax;
mod tiles;

use std::sync::Arc;

use opweave_registry::{Registry, RegistryError};

/// Registers every row of this crate.
///
/// # Errors
/// [`RegistryError`] when the operations are not declared or a name is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    // Looked for once: whatever is wrong with them is the answer of every row, and no error of registration.
    let images = opweave_kernels_cuda::images().map(Arc::new);
    ops::register(registry, &images)
}
