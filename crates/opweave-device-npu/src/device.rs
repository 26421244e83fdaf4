// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A device that a harness owns.

use std::sync::Arc;

use opweave_device::{Buffer, Device, DeviceError, DeviceFaults, DeviceInfo, DeviceKey, FaultSink, Stream};
use opweave_tensor::DeviceId;

use crate::{Context, NpuBuffer, NpuStream};

/// An NPU with memory and streams of opweave's own.
#[derive(Debug)]
pub struct NpuDevice {
    context: Arc<Context>,
}

impl NpuDevice {
    /// Opens a device.
    ///
    /// # Errors
    /// [`DeviceError`]: no CANN, no such device, or what the runtime says.
    pub fn open(device: DeviceId) -> Result<Self, DeviceError> {
        Ok(NpuDevice { context: Context::primary(device)? })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

impl Device for NpuDevice {
    fn id(&self) -> DeviceId {
        self.context.device()
    }

    fn key(&self) -> &DeviceKey {
        &self.context.info().key
    }

    fn info(&self) -> &DeviceInfo {
        self.context.info()
    }

    fn allocate(&self, bytes: usize, align: usize) -> Result<Box<dyn Buffer>, DeviceError> {
        Ok(Box::new(NpuBuffer::new(self.context.clone(), bytes, align)?))
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        Ok(Box::new(NpuStream::new(self.context.clone())?))
    }

    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError> {
        let context = self.context.clone();
        Ok(Box::new(DeviceFaults::new(|bytes, align| self.allocate(bytes, align), move || context.synchronize())?))
    }

    fn has_graphs(&self) -> bool {
        self.context.info().graphs
    }
}
