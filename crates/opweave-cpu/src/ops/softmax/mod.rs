// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the softmax family.

mod log_softmax;
#[expect(clippy::module_inception, reason = "the operator that gives the family its name")]
mod softmax;

use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};
use opweave_tensor::RawTensor;

use crate::native::{self, Native};
use crate::{Rows, reference};

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<opweave_contract::ops::softmax::LogSoftmax>(registry)?;
    rows::<opweave_contract::ops::softmax::Softmax>(registry)?;
    Ok(())
}

/// The rows of a view of rank 2.
fn rows_of(view: &RawTensor) -> Rows {
    Rows { data: view.data(), stride: view.stride(0) }
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}
