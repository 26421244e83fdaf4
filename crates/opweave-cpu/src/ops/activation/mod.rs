// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the activation family.

mod gelu_and_mul;
mod gelu_tanh_and_mul;
mod silu_and_mul;

use opweave_reference::Reference;
use opweave_registry::{Registry, RegistryError};
use opweave_tensor::RawTensor;

use crate::native::{self, Native};
use crate::{Rows, reference};

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<opweave_contract::ops::activation::GeluTanhAndMul>(registry)?;
    rows::<opweave_contract::ops::activation::GeluAndMul>(registry)?;
    rows::<opweave_contract::ops::activation::SiluAndMul>(registry)?;
    Ok(())
}

/// The rows of a view of rank 2.
fn rows_of(view: &RawTensor) -> Rows {
    Rows { data: view.data(), stride: view.stride(0) }
}

/// Gate and up: the two halves of `input`'s rows, or two tensors.
fn halves_of(input: &RawTensor, up: Option<&RawTensor>, width: usize) -> (Rows, Rows) {
    let gate = rows_of(input);
    let behind = || Rows { data: gate.data.wrapping_add(width * (input.dtype().bits() / 8)), stride: gate.stride };
    (gate, up.map_or_else(behind, rows_of))
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}
