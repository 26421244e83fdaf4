// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Streams: the caller's, and those of a harness.

use std::ffi::c_void;
use std::sync::Arc;

use opweave_device::{DeviceError, Event, Graph, Stream, StreamBackend, StreamRef};
use opweave_tensor::DeviceId;

use crate::driver::Opaque;
use crate::{Context, CudaEvent, CudaGraph};

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream.
const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: what other threads do meanwhile is not our business.
const CAPTURE_THREAD_LOCAL: u32 = 1;

/// A `CUstream` of the caller's, which stays the caller's.
#[derive(Debug)]
pub struct BorrowedStream {
    context: Arc<Context>,
    raw: Opaque,
}

// SAFETY: a stream may be used from any thread; the driver has its own locks.
unsafe impl Send for BorrowedStream {}
// SAFETY: as for Send.
unsafe impl Sync for BorrowedStream {}

impl BorrowedStream {
    /// Wraps a stream of `device`. Null is the default stream.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, or no such device.
    ///
    /// # Safety
    /// - `raw` is null or a live `CUstream` of the device's primary context for as long as this is used.
    pub unsafe fn new(device: DeviceId, raw: *mut c_void) -> Result<Self, DeviceError> {
        Ok(BorrowedStream { context: Context::primary(device)?, raw })
    }

    /// The stream as a call sees it.
    #[inline]
    pub fn as_ref(&self) -> StreamRef<'_> {
        // SAFETY: the stream is alive by the clause of `new`.
        unsafe { StreamRef::foreign(self.context.device(), self.raw, self) }
    }

    fn capturing(&self) -> Result<bool, DeviceError> {
        let mut state = 0;
        // SAFETY: a live stream; writes one integer.
        self.context.check(unsafe { (self.context.driver().stream_capturing)(self.raw, &raw mut state) })?;
        Ok(state != 0)
    }
}

impl StreamBackend for BorrowedStream {
    fn synchronize(&self) -> Result<(), DeviceError> {
        let _current = self.context.enter()?;
        if self.capturing()? {
            let what = "a stream cannot be synchronised while it captures".to_owned();
            return Err(DeviceError::State { device: self.context.device(), what });
        }
        // SAFETY: a live stream.
        self.context.check(unsafe { (self.context.driver().stream_synchronize)(self.raw) })
    }

    fn is_capturing(&self) -> bool {
        self.context.enter().and_then(|_current| self.capturing()).unwrap_or(false)
    }
}

/// A stream that opweave owns.
#[derive(Debug)]
pub struct CudaStream {
    stream: BorrowedStream,
}

impl CudaStream {
    /// A fresh stream that waits for no other.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    pub fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let mut raw = std::ptr::null_mut();
        {
            let _current = context.enter()?;
            // SAFETY: writes one handle.
            context.check(unsafe { (context.driver().stream_create)(&raw mut raw, NON_BLOCKING) })?;
        }
        Ok(CudaStream { stream: BorrowedStream { context, raw } })
    }
}

impl Stream for CudaStream {
    fn borrow(&self) -> StreamRef<'_> {
        self.stream.as_ref()
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        StreamBackend::synchronize(&self.stream)
    }

    fn begin_capture(&self) -> Result<(), DeviceError> {
        let BorrowedStream { context, raw } = &self.stream;
        let _current = context.enter()?;
        if self.stream.capturing()? {
            let what = "a capture is already under way".to_owned();
            return Err(DeviceError::State { device: context.device(), what });
        }
        // SAFETY: a live stream.
        context.check(unsafe { (context.driver().capture_begin)(*raw, CAPTURE_THREAD_LOCAL) })
    }

    fn end_capture(&self) -> Result<Box<dyn Graph>, DeviceError> {
        let BorrowedStream { context, raw } = &self.stream;
        let _current = context.enter()?;
        if !self.stream.capturing()? {
            let what = "no capture is under way".to_owned();
            return Err(DeviceError::State { device: context.device(), what });
        }
        let mut graph = std::ptr::null_mut();
        // SAFETY: a live stream; writes one handle.
        context.check(unsafe { (context.driver().capture_end)(*raw, &raw mut graph) })?;
        Ok(Box::new(CudaGraph::instantiate(context.clone(), graph)?))
    }

    fn event(&self) -> Result<Box<dyn Event>, DeviceError> {
        Ok(Box::new(CudaEvent::new(self.stream.context.clone())?))
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        let BorrowedStream { context, raw } = &self.stream;
        if let Ok(_current) = context.enter() {
            // SAFETY: created in `new`, destroyed here only; the driver lets its work finish.
            unsafe { (context.driver().stream_destroy)(*raw) };
        }
    }
}
