// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the rotary family.

opweave_contract::rotary_operators!(modules);

use opweave_reference::FaultAt;
use opweave_tensor::RawTensor;

use crate::indices::Indices;
use crate::rotary::CosSin;

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
