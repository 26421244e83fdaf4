// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The solution: its rows, registered by one function that an application calls.

use std::sync::Arc;

use opweave_contract::ImplementationDecl;
use opweave_contract::tensor::RawTensor;
use opweave_registry::device::cpu;
use opweave_registry::{Registry, RegistryError};
use opweave_runtime::Solution;

use crate::relu_squared::ReluSquaredKernel;
use crate::rms_norm::{ROW, RmsNormKernel};

/// The solution's name, with the kind of device in front.
pub(crate) const NAME: &str = "cpu.outside";

/// The solution, for `RuntimeBuilder::solution`.
pub const SOLUTION: Solution = Solution { name: NAME, register, probe: cpu::backend };

/// Declares the row for `rms_norm`, whose declaration is opweave's, and registers both kernels.
fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.declare_rows("rms_norm", &[ImplementationDecl { name: ROW, solution: NAME, libraries: &[] }])?;
    registry.register(Arc::new(ReluSquaredKernel::new()))?;
    registry.register(Arc::new(RmsNormKernel::new()))?;
    Ok(())
}

/// Rows of an f32 view, for tasks on several threads that each use rows of their own.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    data: *mut f32,
    stride: isize,
}

// SAFETY: an address; whoever reads or writes through it answers for races.
unsafe impl Sync for Rows {}

impl Rows {
    pub(crate) fn of(view: &RawTensor) -> Self {
        Rows { data: view.data().cast(), stride: view.stride(0) }
    }

    /// The first element of a row.
    ///
    /// # Safety
    /// - `row` is a row of the view.
    pub(crate) unsafe fn row(&self, row: usize) -> *mut f32 {
        // SAFETY: the caller's clause; the rows of a view lie in one allocation.
        unsafe { self.data.offset(row as isize * self.stride) }
    }
}
