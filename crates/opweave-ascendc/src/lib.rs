// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The Ascend C solution: own kernels, and the rows that they are registered as, `npu.ascendc.<op>`.
//!
//! Kernels are images built ahead of time (`opweave-kernels-npu`); without them rows are listed as not built. A plan holds the
//! kernel and how it is cut into tiles; a call is one struct and one launch. Rows exist on every machine: selection can be
//! asked about an NPU that is not there.
//!
//! Not run on hardware: `docs/kernels-npu.md` says what has been verified, and how.

mod native;
mod ops;
mod tiles;

use std::sync::Arc;

use opweave_kernels_npu::ImageError;
use opweave_registry::{Registry, RegistryError};

/// Registers every row of this crate.
///
/// # Errors
/// [`RegistryError`] when the operations are not declared or a name is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    // Looked for once: whatever is wrong with them is the answer of every row, and no error of registration.
    let images = opweave_kernels_npu::images().and_then(|images| {
        let none = || ImageError::NotBuilt { stem: "any kernel".to_owned() };
        images.map(Arc::new).ok_or_else(none)
    });
    ops::register(registry, &images)
}
