// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Streams and graphs that the host runs itself: those of the CPU and of the noop device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opweave_tensor::DeviceId;

use crate::cpu::Parallel;
use crate::{DeviceError, Graph, LaunchError, StreamBackend, StreamRef};

/// A bound call, ready to run again.
pub type RecordedCall = Box<dyn Fn(StreamRef<'_>) -> Result<(), LaunchError> + Send + Sync>;

/// A stream that runs each call before it returns, on the caller's threads, or records it while a capture is under way.
pub struct HostStream {
    device: DeviceId,
    pool: Arc<dyn Parallel>,
    recording: AtomicBool,
    calls: Mutex<Vec<RecordedCall>>,
}

impl HostStream {
    /// A stream of `device` that runs on `pool`.
    pub fn new(device: DeviceId, pool: Arc<dyn Parallel>) -> Self {
        HostStream { device, pool, recording: AtomicBool::new(false), calls: Mutex::default() }
    }

    /// The device.
    #[inline]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The threads that it runs on.
    #[inline]
    pub fn pool(&self) -> &dyn Parallel {
        &*self.pool
    }

    /// Whether a capture is under way.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.recording.load(Ordering::Relaxed)
    }

    /// Adds a call to the capture.
    ///
    /// # Errors
    /// [`DeviceError::State`] when no capture is under way.
    pub fn record(&self, call: RecordedCall) -> Result<(), DeviceError> {
        if !self.is_recording() {
            return Err(self.state("no capture is under way"));
        }
        self.lock().push(call);
        Ok(())
    }

    /// Starts a capture.
    ///
    /// # Errors
    /// [`DeviceError::State`] when one is under way.
    pub fn begin_capture(&self) -> Result<(), DeviceError> {
        if self.recording.swap(true, Ordering::AcqRel) {
            return Err(self.state("a capture is already under way"));
        }
        self.lock().clear();
        Ok(())
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// [`DeviceError::State`] when none is under way.
    pub fn end_capture(&self) -> Result<HostGraph, DeviceError> {
        if !self.recording.swap(false, Ordering::AcqRel) {
            return Err(self.state("no capture is under way"));
        }
        Ok(HostGraph { device: self.device, calls: std::mem::take(&mut *self.lock()) })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RecordedCall>> {
        // A panic elsewhere leaves the list as it was: it is only ever pushed to or taken whole.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, what: &str) -> DeviceError {
        DeviceError::State { device: self.device, what: what.to_owned() }
    }
}

impl StreamBackend for HostStream {
    fn synchronize(&self) -> Result<(), DeviceError> {
        if self.is_recording() {
            return Err(self.state("a stream cannot be synchronised while it captures"));
        }
        Ok(())
    }
}

impl std::fmt::Debug for HostStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "host stream of {} on {} threads", self.device, self.pool.threads())
    }
}

/// The calls of a capture on the host.
pub struct HostGraph {
    device: DeviceId,
    calls: Vec<RecordedCall>,
}

impl Graph for HostGraph {
    fn calls(&self) -> usize {
        self.calls.len()
    }

    fn replay(&self, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        if stream.device() != self.device {
            let what = format!("a graph of {} cannot be replayed on {}", self.device, stream.device());
            return Err(DeviceError::State { device: self.device, what }.into());
        }
        if stream.is_recording() {
            let what = "a graph cannot be replayed into a capture".to_owned();
            return Err(DeviceError::State { device: self.device, what }.into());
        }
        self.calls.iter().try_for_each(|call| call(stream))
    }
}

impl std::fmt::Debug for HostGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "graph of {} calls on {}", self.calls.len(), self.device)
    }
}
