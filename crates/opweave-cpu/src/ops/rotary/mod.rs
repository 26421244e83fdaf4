// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the rotary family.

mod fused_qk_norm_rope;
mod rotary_embedding;

use opweave_reference::{FaultAt, Reference};
use opweave_registry::{Registry, RegistryError};
use opweave_tensor::RawTensor;

use crate::indices::Indices;
use crate::native::{self, Native};
use crate::reference;
use crate::rotary::CosSin;

/// Registers the rows of the family.
pub(super) fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    rows::<opweave_contract::ops::rotary::RotaryEmbedding>(registry)?;
    rows::<opweave_contract::ops::rotary::FusedQkNormRope>(registry)?;
    Ok(())
}

fn rows<O: Native + Reference>(registry: &mut Registry) -> Result<(), RegistryError> {
    native::register::<O>(registry)?;
    reference::register::<O>(registry)
}

/// The cosines and sines of a `[max_position, rotary_dim]` view.
fn cos_sin_of(cache: &RawTensor) -> CosSin {
    CosSin { data: cache.data(), dtype: cache.dtype(), stride: cache.stride(0), positions: cache.dim(0) }
}

/// The first token whose position the cache does not have.
///
/// # Safety
/// - The positions are valid to read.
unsafe fn first_fault(positions: &RawTensor, cache: &RawTensor) -> Option<FaultAt> {
    // SAFETY: the caller's clause.
    let row = unsafe { Indices::of(positions).first_outside(cache.dim(0), None) }?;
    Some(FaultAt { clause: 0, row: row as u64 })
}
