// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A device that a harness owns.

use std::sync::Arc;

use opweave_device::{Activity, Buffer, Device, DeviceError, DeviceFaults, DeviceInfo, DeviceKey, FaultSink, Stream};
use opweave_tensor::DeviceId;

use crate::{Context, CudaActivity, CudaBuffer, CudaStream};

/// A GPU with memory and streams of opweave's own.
#[derive(Debug)]
pub struct CudaDevice {
    context: Arc<Context>,
}

impl CudaDevice {
    /// Opens a device.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, no such device, or what the driver says.
    pub fn open(device: DeviceId) -> Result<Self, DeviceError> {
        Ok(CudaDevice { context: Context::primary(device)? })
    }

    /// Its context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

impl Device for CudaDevice {
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
        Ok(Box::new(CudaBuffer::new(self.context.clone(), bytes, align)?))
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        Ok(Box::new(CudaStream::new(self.context.clone())?))
    }

    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError> {
        let context = self.context.clone();
        Ok(Box::new(DeviceFaults::new(|bytes, align| self.allocate(bytes, align), move || context.synchronize())?))
    }

    fn has_graphs(&self) -> bool {
        true
    }

    fn activity(&self) -> Result<Box<dyn Activity>, DeviceError> {
        Ok(Box::new(CudaActivity::start(self.context.device())?))
    }
}
