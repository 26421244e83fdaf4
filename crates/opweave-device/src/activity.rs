// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Records of single kernels: when each ran, by the device's own clock.

use crate::DeviceError;

/// When a kernel ran, in nanoseconds of a clock of the device's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSpan {
    /// When it began.
    pub start_ns: u64,
    /// When its last block ended.
    pub end_ns: u64,
}

/// A device that keeps a record of each kernel for as long as this lives.
pub trait Activity: Send + Sync {
    /// The kernels that have finished since the last call, in the order in which they began. What is still running is in
    /// nobody's records: wait for the stream first.
    ///
    /// # Errors
    /// [`DeviceError`] of the library that records, or where it dropped a record or has no times for one.
    fn take(&self) -> Result<Vec<KernelSpan>, DeviceError>;
}
