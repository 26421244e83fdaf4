// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Devices that a harness owns.

use opweave_tensor::DeviceId;

use crate::{Activity, Buffer, DeviceError, DeviceInfo, DeviceKey, FaultSink, Stream};

/// A device with memory and streams of its own: for harnesses. Serving needs none of it.
pub trait Device: Send + Sync {
    /// Which device of this process.
    fn id(&self) -> DeviceId;
    /// What selection knows of it.
    fn key(&self) -> &DeviceKey;
    /// What the probe found.
    fn info(&self) -> &DeviceInfo;
    /// Memory of `bytes`, at least, aligned to `align`, a power of two.
    ///
    /// # Errors
    /// [`DeviceError::Allocation`].
    fn allocate(&self, bytes: usize, align: usize) -> Result<Box<dyn Buffer>, DeviceError>;
    /// A fresh stream.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError>;
    /// A fresh fault buffer.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError>;
    /// Whether streams can be captured.
    fn has_graphs(&self) -> bool;
    /// Has the device keep a record of each kernel from now on.
    ///
    /// # Errors
    /// [`DeviceError`] where the device has no such records, or the library that keeps them is missing or refuses.
    fn activity(&self) -> Result<Box<dyn Activity>, DeviceError> {
        Err(DeviceError::State {
            device: self.id(),
            what: "there are no activity records of single kernels".to_owned(),
        })
    }
}

/// The caller's communicator of several ranks, for collectives.
pub trait Communicator: Send + Sync {
    /// This process's rank.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn world_size(&self) -> usize;
    /// The library's handle, such as an `ncclComm_t`.
    fn raw(&self) -> *mut std::ffi::c_void;
}
