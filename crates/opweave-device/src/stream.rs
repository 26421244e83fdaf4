// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Streams: where a call is enqueued.

use std::ffi::c_void;

use opweave_tensor::DeviceId;

use crate::cpu::{Parallel, Serial};
use crate::{DeviceError, Event, FaultSink, Graph, HostStream, RecordedCall};

/// What a stream can do beyond being launched on: needed only off the hot path.
pub trait StreamBackend: Sync {
    /// Waits for all work on the stream.
    ///
    /// # Errors
    /// [`DeviceError`] of the work or the driver.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Whether a capture of the driver's is under way on the stream.
    fn is_capturing(&self) -> bool {
        false
    }
}

/// A stream of the caller's, borrowed for one call: a `CUstream`, an `aclrtStream`, or a pool of CPU threads.
#[derive(Clone, Copy)]
pub struct StreamRef<'a> {
    device: DeviceId,
    raw: *mut c_void,
    backend: &'a dyn StreamBackend,
    host: Option<&'a HostStream>,
    faults: Option<&'a dyn FaultSink>,
}

impl<'a> StreamRef<'a> {
    /// A stream that the host runs: of the CPU or the noop device.
    #[inline]
    pub fn host(stream: &'a HostStream) -> Self {
        StreamRef {
            device: stream.device(),
            raw: std::ptr::null_mut(),
            backend: stream,
            host: Some(stream),
            faults: None,
        }
    }

    /// A stream of a driver's, by its handle.
    ///
    /// # Safety
    /// - `raw` is a live stream of `device` for as long as the reference is used.
    #[inline]
    pub unsafe fn foreign(device: DeviceId, raw: *mut c_void, backend: &'a dyn StreamBackend) -> Self {
        StreamRef { device, raw, backend, host: None, faults: None }
    }

    /// The same stream with a buffer for faults.
    #[inline]
    #[must_use]
    pub fn with_faults(mut self, faults: &'a dyn FaultSink) -> Self {
        self.faults = Some(faults);
        self
    }

    /// The device.
    #[inline]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The driver's handle; null on the host.
    #[inline]
    pub fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// The fault buffer, if the caller gave one.
    #[inline]
    pub fn faults(&self) -> Option<&'a dyn FaultSink> {
        self.faults
    }

    /// Where kernels of a call on this stream write a fault; null where the caller gave no buffer, and then it is nowhere.
    #[inline]
    pub fn fault_pointer(&self) -> *mut u8 {
        self.faults.map_or(std::ptr::null_mut(), |faults| faults.device_pointer().cast())
    }

    /// The threads to run on: the caller's pool on the CPU, the calling thread elsewhere.
    #[inline]
    pub fn pool(&self) -> &'a dyn Parallel {
        match self.host {
            Some(host) => host.pool(),
            None => &Serial,
        }
    }

    /// Whether a host stream is recording instead of running. Driver streams capture by themselves.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.host.is_some_and(HostStream::is_recording)
    }

    /// Whether the driver captures the stream: work is then recorded and cannot be waited for.
    pub fn is_capturing(&self) -> bool {
        self.backend.is_capturing()
    }

    /// Adds a call to the graph that a host stream is recording.
    ///
    /// # Errors
    /// [`DeviceError::State`] when the stream is not recording.
    pub fn record(&self, call: RecordedCall) -> Result<(), DeviceError> {
        match self.host {
            Some(host) => host.record(call),
            None => Err(DeviceError::State {
                device: self.device,
                what: "only a host stream records calls; this one captures by itself".to_owned(),
            }),
        }
    }

    /// Waits for all work on the stream.
    ///
    /// # Errors
    /// [`DeviceError`] of the work or the driver.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.backend.synchronize()
    }
}

impl std::fmt::Debug for StreamRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stream {:p} of {}", self.raw, self.device)
    }
}

/// A stream that opweave owns: for harnesses.
pub trait Stream: Send {
    /// The stream as a call sees it.
    fn borrow(&self) -> StreamRef<'_>;
    /// Waits for all work.
    ///
    /// # Errors
    /// [`DeviceError`] of the work or the driver.
    fn synchronize(&self) -> Result<(), DeviceError>;
    /// Starts capturing calls instead of running them.
    ///
    /// # Errors
    /// [`DeviceError::State`] when a capture is under way.
    fn begin_capture(&self) -> Result<(), DeviceError>;
    /// Ends the capture and gives the graph of its calls.
    ///
    /// # Errors
    /// [`DeviceError::State`] when no capture is under way.
    fn end_capture(&self) -> Result<Box<dyn Graph>, DeviceError>;
    /// A fresh event, for timing on this stream.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    fn event(&self) -> Result<Box<dyn Event>, DeviceError>;
}
