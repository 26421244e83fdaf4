// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The solution: its rows, registered by one function that an application calls.

use std::sync::Arc;

use opweave_contract::ImplementationDecl;
use opweave_contract::tensor::RawTensor;
use opweave_registry::{Registry, RegistryError};

use crate::relu_squared::{OPERATION, ReluSquaredKernel};
use crate::rms_norm::{ROW, RmsNormKernel};

/// The solution's name, with the kind of device in front.
pub const fn solution_name() -> &'static str {
    "cpu.outside"
}

/// Declares this crate's operator and rows, and registers its kernels.
///
/// # Errors
/// [`RegistryError`] when the registry is frozen, does not know `rms_norm`, or has a row of one of these names.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registry.declare(&[OPERATION])?;
    registry
        .declare_rows("rms_norm", &[ImplementationDecl { name: ROW, solution: solution_name(), libraries: &[] }])?;
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
