// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a call costs at least: the floor that a kernel is measured against.

use crate::{ArgSpecs, DynDims, Role};

/// Bytes and arithmetic that the contract cannot do without. Every tensor is counted once, whatever a kernel rereads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Floating-point operations, a multiply-add counting two.
    pub flops: u64,
}

impl Cost {
    /// The cost of an operator that streams: each input read once, each output written once, in-out both.
    pub fn streaming(specs: &ArgSpecs, dims: &DynDims, flops: u64) -> Cost {
        let mut cost = Cost { flops, ..Cost::default() };
        for spec in specs.tensors().filter(|s| s.present) {
            let bytes = spec.bytes(dims) as u64;
            if matches!(spec.role, Role::In | Role::InOut) {
                cost.bytes_read = cost.bytes_read.saturating_add(bytes);
            }
            if matches!(spec.role, Role::Out | Role::InOut) {
                cost.bytes_written = cost.bytes_written.saturating_add(bytes);
            }
        }
        cost
    }
}
