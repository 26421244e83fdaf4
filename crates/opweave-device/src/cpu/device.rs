// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The CPU as a device that a harness owns.

use std::sync::Arc;

use opweave_tensor::DeviceId;

use super::{HostBuffer, HostEvent, Parallel, host_info};
use crate::{
    Buffer, Device, DeviceError, DeviceInfo, DeviceKey, Event, FaultSink, Graph, HostFaults, HostStream, Stream,
    StreamBackend, StreamRef,
};

/// The host processor, running on threads that the caller chose.
#[derive(Debug)]
pub struct CpuDevice {
    info: DeviceInfo,
    pool: PoolHandle,
}

struct PoolHandle(Arc<dyn Parallel>);

impl std::fmt::Debug for PoolHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads", self.0.threads())
    }
}

impl CpuDevice {
    /// The host processor on `pool`.
    pub fn new(pool: Arc<dyn Parallel>) -> Self {
        CpuDevice { info: host_info(), pool: PoolHandle(pool) }
    }

    /// The threads.
    pub fn pool(&self) -> &Arc<dyn Parallel> {
        &self.pool.0
    }
}

impl Device for CpuDevice {
    fn id(&self) -> DeviceId {
        self.info.id
    }

    fn key(&self) -> &DeviceKey {
        &self.info.key
    }

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: usize, align: usize) -> Result<Box<dyn Buffer>, DeviceError> {
        Ok(Box::new(HostBuffer::new(self.info.id, bytes, align)?))
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        Ok(Box::new(HostStream::new(self.info.id, Arc::clone(&self.pool.0))))
    }

    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError> {
        Ok(Box::new(HostFaults::default()))
    }

    fn has_graphs(&self) -> bool {
        true
    }
}

impl Stream for HostStream {
    fn borrow(&self) -> StreamRef<'_> {
        StreamRef::host(self)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        StreamBackend::synchronize(self)
    }

    fn begin_capture(&self) -> Result<(), DeviceError> {
        HostStream::begin_capture(self)
    }

    fn end_capture(&self) -> Result<Box<dyn Graph>, DeviceError> {
        Ok(Box::new(HostStream::end_capture(self)?))
    }

    fn event(&self) -> Result<Box<dyn Event>, DeviceError> {
        Ok(Box::new(HostEvent::new(self.device())))
    }
}
