// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device memory.

use std::any::Any;
use std::sync::Arc;

use opweave_device::{Buffer, DeviceError, through_the_host};

use crate::Context;

/// What the driver aligns every allocation to.
const GRANULE: usize = 256;

/// Zeroed device memory.
pub struct CudaBuffer {
    context: Arc<Context>,
    base: u64,
    data: u64,
    bytes: usize,
}

impl CudaBuffer {
    /// `bytes` zeroed bytes, aligned to `align`.
    ///
    /// # Errors
    /// [`DeviceError::Allocation`].
    pub fn new(context: Arc<Context>, bytes: usize, align: usize) -> Result<Self, DeviceError> {
        let device = context.device();
        let fail = |reason: String| DeviceError::Allocation { device, bytes, align, reason };
        if !align.is_power_of_two() {
            return Err(fail("the alignment is no power of two".to_owned()));
        }
        let slack = if align > GRANULE { align } else { 0 };
        let total = bytes.max(1).checked_add(slack).ok_or_else(|| fail("the size overflows".to_owned()))?;
        let mut base = 0;
        {
            let driver = context.driver();
            let _current = context.enter()?;
            // SAFETY: writes one address.
            let status = unsafe { (driver.memory_allocate)(&raw mut base, total) };
            driver.said(status).map_err(fail)?;
        }
        let mut buffer = CudaBuffer { data: base.next_multiple_of(align as u64), base, bytes, context };
        buffer.clear()?;
        Ok(buffer)
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        let _current = self.context.enter()?;
        // SAFETY: the range is this allocation's.
        self.context.check(unsafe { (self.context.driver().memory_set)(self.data, 0, self.bytes) })?;
        // Other streams do not wait for the one that sets memory.
        self.context.synchronize()
    }

    fn range(&self, offset: usize, length: usize) -> Result<u64, DeviceError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.bytes => Ok(self.data + offset as u64),
            end => Err(DeviceError::OutOfBounds { start: offset, end: end.unwrap_or(usize::MAX), bytes: self.bytes }),
        }
    }
}

impl Buffer for CudaBuffer {
    fn data(&self) -> *mut u8 {
        std::ptr::without_provenance_mut(self.data as usize)
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn write(&mut self, offset: usize, source: &[u8]) -> Result<(), DeviceError> {
        let target = self.range(offset, source.len())?;
        let _current = self.context.enter()?;
        // SAFETY: both ranges were checked.
        let status = unsafe { (self.context.driver().memory_to_device)(target, source.as_ptr().cast(), source.len()) };
        self.context.check(status)?;
        // From pageable memory the call may return when the source was read; streams that do not wait for it must not
        // find the old bytes.
        self.context.synchronize()
    }

    fn read(&self, offset: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        let source = self.range(offset, target.len())?;
        let _current = self.context.enter()?;
        // SAFETY: both ranges were checked.
        self.context
            .check(unsafe { (self.context.driver().memory_to_host)(target.as_mut_ptr().cast(), source, target.len()) })
    }

    fn copy_from(&mut self, source: &dyn Buffer) -> Result<(), DeviceError> {
        let any: &dyn Any = source;
        let within = |b: &&CudaBuffer| b.context.device() == self.context.device();
        let Some(near) = any.downcast_ref::<CudaBuffer>().filter(within) else { return through_the_host(self, source) };
        let target = self.range(0, near.bytes)?;
        let _current = self.context.enter()?;
        // SAFETY: both ranges were checked, and two buffers share no bytes.
        self.context.check(unsafe { (self.context.driver().memory_within)(target, near.data, near.bytes) })?;
        // The call may return before the copy is done.
        self.context.synchronize()
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.enter() {
            // SAFETY: allocated in `new`, freed here only; the driver waits for work that uses it.
            unsafe { (self.context.driver().memory_free)(self.base) };
        }
    }
}

impl std::fmt::Debug for CudaBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of {}", self.bytes, self.context.device())
    }
}
