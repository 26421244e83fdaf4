// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Rows of the softmax family.

mod common;
mod log_softmax;
#[expect(clippy::module_inception, reason = "the operator has the name of its family")]
mod softmax;

use opweave_contract::ops::softmax::{LogSoftmax, Softmax};
use opweave_device_npu::{Cann, LoadError};
use opweave_registry::{Registry, RegistryError};

use crate::vendor;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry, cann: &Result<&'static Cann, LoadError>) -> Result<(), RegistryError> {
    vendor::register::<LogSoftmax>(registry, cann)?;
    vendor::register::<Softmax>(registry, cann)
}
