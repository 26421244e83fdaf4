// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device memory.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use opweave_device::{Buffer, DeviceError};

use crate::Context;
use crate::acl::Handle;

/// What the runtime aligns every allocation to.
const GRANULE: usize = 64;
/// `ACL_MEM_MALLOC_HUGE_FIRST`.
const HUGE_FIRST: c_int = 0;
/// `ACL_MEMCPY_HOST_TO_DEVICE` and `ACL_MEMCPY_DEVICE_TO_HOST`.
const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

/// Zeroed device memory.
pub struct NpuBuffer {
    context: Arc<Context>,
    base: Handle,
    data: *mut u8,
    bytes: usize,
}

// SAFETY: an address on the device; the runtime frees it from any thread.
unsafe impl Send for NpuBuffer {}
// SAFETY: as for Send; what writes takes `&mut`.
unsafe impl Sync for NpuBuffer {}

impl NpuBuffer {
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
        let mut base = std::ptr::null_mut();
        {
            let acl = context.acl();
            let (allocate, _free) = (acl.memory_allocate()?, acl.memory_free()?);
            let _current = context.enter()?;
            // SAFETY: writes one address.
            let status = unsafe { allocate(&raw mut base, total, HUGE_FIRST) };
            acl.said("aclrtMalloc", status).map_err(fail)?;
        }
        let data = base.cast::<u8>().wrapping_add((base as usize).next_multiple_of(align) - base as usize);
        let mut buffer = NpuBuffer { data, base, bytes, context };
        buffer.clear()?;
        Ok(buffer)
    }

    fn clear(&mut self) -> Result<(), DeviceError> {
        if self.bytes == 0 {
            return Ok(());
        }
        let _current = self.context.enter()?;
        // SAFETY: the range is this allocation's.
        let status = unsafe { self.context.acl().memory_set()?(self.data.cast(), self.bytes, 0, self.bytes) };
        self.context.check(status)?;
        // Other streams do not wait for the one that sets memory.
        self.context.synchronize()
    }

    fn range(&self, offset: usize, length: usize) -> Result<*mut c_void, DeviceError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.bytes => Ok(self.data.wrapping_add(offset).cast()),
            end => Err(DeviceError::OutOfBounds { start: offset, end: end.unwrap_or(usize::MAX), bytes: self.bytes }),
        }
    }
}

impl Buffer for NpuBuffer {
    fn data(&self) -> *mut u8 {
        self.data
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn write(&mut self, offset: usize, source: &[u8]) -> Result<(), DeviceError> {
        let target = self.range(offset, source.len())?;
        if source.is_empty() {
            return Ok(());
        }
        let copy = self.context.acl().memory_copy()?;
        let _current = self.context.enter()?;
        // SAFETY: both ranges were checked.
        let status = unsafe { copy(target, source.len(), source.as_ptr().cast(), source.len(), TO_DEVICE) };
        self.context.check(status)
    }

    fn read(&self, offset: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        let source = self.range(offset, target.len())?;
        if target.is_empty() {
            return Ok(());
        }
        let copy = self.context.acl().memory_copy()?;
        let _current = self.context.enter()?;
        // SAFETY: both ranges were checked.
        let status = unsafe { copy(target.as_mut_ptr().cast(), target.len(), source, target.len(), TO_HOST) };
        self.context.check(status)
    }
}

impl Drop for NpuBuffer {
    fn drop(&mut self) {
        if let (Ok(free), Ok(_current)) = (self.context.acl().memory_free(), self.context.enter()) {
            // SAFETY: allocated in `new`, freed here only; the runtime waits for work that uses it.
            unsafe { free(self.base) };
        }
    }
}

impl std::fmt::Debug for NpuBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of {}", self.bytes, self.context.device())
    }
}
