// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Streams: the caller's, and those of a harness.

use std::ffi::c_void;
use std::sync::Arc;

use opweave_device::{DeviceError, Event, Graph, Stream, StreamBackend, StreamRef};
use opweave_tensor::DeviceId;

use crate::acl::Handle;
use crate::{Context, NpuEvent, NpuGraph};

/// `ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC`, as engines make theirs.
const FAST: u32 = 3;
/// `ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL`: what other threads do meanwhile is not our business.
const CAPTURE_THREAD_LOCAL: i32 = 1;
/// `ACL_MODEL_RI_CAPTURE_STATUS_NONE`.
const CAPTURE_NONE: i32 = 0;

/// An `aclrtStream` of the caller's, which stays the caller's.
#[derive(Debug)]
pub struct BorrowedStream {
    context: Arc<Context>,
    raw: Handle,
}

// SAFETY: a stream may be used from any thread; the runtime has its own locks.
unsafe impl Send for BorrowedStream {}
// SAFETY: as for Send.
unsafe impl Sync for BorrowedStream {}

impl BorrowedStream {
    /// Wraps a stream of `device`. Null is the default stream, which cannot be captured.
    ///
    /// # Errors
    /// [`DeviceError`]: no CANN, or no such device.
    ///
    /// # Safety
    /// - `raw` is null or a live `aclrtStream` of the device's default context for as long as this is used.
    pub unsafe fn new(device: DeviceId, raw: *mut c_void) -> Result<Self, DeviceError> {
        Ok(BorrowedStream { context: Context::primary(device)?, raw })
    }

    /// The stream as a call sees it.
    #[inline]
    pub fn as_ref(&self) -> StreamRef<'_> {
        // SAFETY: the stream is alive by the clause of `new`.
        unsafe { StreamRef::foreign(self.context.device(), self.raw, self) }
    }

    /// Whether a capture is under way. A runtime without graphs captures nothing.
    fn capturing(&self) -> Result<bool, DeviceError> {
        let Ok(capture_state) = self.context.acl().capture_state() else { return Ok(false) };
        if self.raw.is_null() {
            return Ok(false);
        }
        let (mut state, mut graph) = (CAPTURE_NONE, std::ptr::null_mut());
        // SAFETY: a live stream; writes one integer and one handle.
        self.context.check(unsafe { capture_state(self.raw, &raw mut state, &raw mut graph) })?;
        Ok(state != CAPTURE_NONE)
    }

    fn state(&self, what: &str) -> DeviceError {
        DeviceError::State { device: self.context.device(), what: what.to_owned() }
    }
}

impl StreamBackend for BorrowedStream {
    fn synchronize(&self) -> Result<(), DeviceError> {
        let _current = self.context.enter()?;
        if self.capturing()? {
            return Err(self.state("a stream cannot be synchronised while it captures"));
        }
        // SAFETY: a live stream.
        self.context.check(unsafe { self.context.acl().stream_synchronize()?(self.raw) })
    }

    fn is_capturing(&self) -> bool {
        self.context.enter().and_then(|_current| self.capturing()).unwrap_or(false)
    }
}

/// A stream that opweave owns.
#[derive(Debug)]
pub struct NpuStream {
    stream: BorrowedStream,
}

impl NpuStream {
    /// A fresh stream.
    ///
    /// # Errors
    /// [`DeviceError`] of the runtime.
    pub fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let mut raw = std::ptr::null_mut();
        {
            let (create, _destroy) = (context.acl().stream_create()?, context.acl().stream_destroy()?);
            let _current = context.enter()?;
            // SAFETY: writes one handle. Priority 0, the highest, is the usual one.
            context.check(unsafe { create(&raw mut raw, 0, FAST) })?;
        }
        Ok(NpuStream { stream: BorrowedStream { context, raw } })
    }
}

impl Stream for NpuStream {
    fn borrow(&self) -> StreamRef<'_> {
        self.stream.as_ref()
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        StreamBackend::synchronize(&self.stream)
    }

    fn begin_capture(&self) -> Result<(), DeviceError> {
        let BorrowedStream { context, raw } = &self.stream;
        // All of them are looked for here: a capture that begins must be able to end.
        let acl = context.acl();
        let (begin, _, _) = (acl.capture_begin()?, acl.capture_state()?, acl.capture_end()?);
        let (_, _) = (acl.graph_execute()?, acl.graph_destroy()?);
        let _current = context.enter()?;
        if self.stream.capturing()? {
            return Err(self.stream.state("a capture is already under way"));
        }
        // SAFETY: a live stream.
        context.check(unsafe { begin(*raw, CAPTURE_THREAD_LOCAL) })
    }

    fn end_capture(&self) -> Result<Box<dyn Graph>, DeviceError> {
        let BorrowedStream { context, raw } = &self.stream;
        let end = context.acl().capture_end()?;
        let _current = context.enter()?;
        if !self.stream.capturing()? {
            return Err(self.stream.state("no capture is under way"));
        }
        let mut graph = std::ptr::null_mut();
        // SAFETY: a live stream; writes one handle.
        context.check(unsafe { end(*raw, &raw mut graph) })?;
        Ok(Box::new(NpuGraph::new(context.clone(), graph)?))
    }

    fn event(&self) -> Result<Box<dyn Event>, DeviceError> {
        Ok(Box::new(NpuEvent::new(self.stream.context.clone())?))
    }
}

impl Drop for NpuStream {
    fn drop(&mut self) {
        let BorrowedStream { context, raw } = &self.stream;
        if let (Ok(destroy), Ok(_current)) = (context.acl().stream_destroy(), context.enter()) {
            // SAFETY: created in `new`, destroyed here only; the runtime lets its work finish.
            unsafe { destroy(*raw) };
        }
    }
}
