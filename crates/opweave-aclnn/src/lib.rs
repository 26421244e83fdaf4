// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The vendor's operators for Ascend NPUs, and the rows that they are registered as, `npu.aclnn.<op>`.
//!
//! An operator of the vendor's is called in two phases: the first looks at descriptors of all tensors and answers the size of a
//! workspace and an executor, the second launches that. A plan asks the first phase in advance, for the sizes that calls are
//! likely to have, and keeps the executors: a call of such a size only tells them its addresses. Any other call goes through both
//! phases. The workspace is the caller's.
//!
//! A row's needs are what the vendor documents; what differs from the contract is not served. Rows exist on every machine:
//! selection can be asked about an NPU that is not there. Not run on hardware: see `docs/npu.md`.

mod descriptor;
mod executor;
mod indices;
mod operation;
mod ops;
mod plan;
mod program;
mod sample;
mod vendor;

use opweave_device_npu::installed;
use opweave_registry::{Registry, RegistryError};

/// Registers every row of this crate. Loads CANN's libraries where they are installed, and initialises nothing.
///
/// # Errors
/// [`RegistryError`] when the operations are not declared or a name is taken.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    // Looked for once: whatever is wrong with them is the answer of every row, and no error of registration.
    ops::register(registry, &installed())
}
