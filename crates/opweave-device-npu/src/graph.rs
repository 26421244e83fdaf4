// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Captured graphs, and events.

use std::any::Any;
use std::sync::Arc;

use opweave_device::{DeviceError, Event, Graph, LaunchError, StreamRef};

use crate::Context;
use crate::acl::Handle;

/// `ACL_EVENT_TIME_LINE`: an event that takes the time.
const TIME_LINE: u32 = 8;

/// A captured graph: the vendor's ACLGraph, an `aclmdlRI`.
#[derive(Debug)]
pub struct NpuGraph {
    context: Arc<Context>,
    raw: Handle,
}

// SAFETY: a graph may be launched from any thread, one at a time, which `&mut`-free use behind Send allows.
unsafe impl Send for NpuGraph {}

impl NpuGraph {
    /// Takes over what a capture ended with.
    pub(crate) fn new(context: Arc<Context>, raw: Handle) -> Result<Self, DeviceError> {
        if raw.is_null() {
            let what = "the capture was invalidated by a call that cannot be captured".to_owned();
            return Err(DeviceError::State { device: context.device(), what });
        }
        Ok(NpuGraph { context, raw })
    }
}

impl Graph for NpuGraph {
    /// One: the runtime does not count the calls of a graph.
    fn calls(&self) -> usize {
        1
    }

    fn is_counted(&self) -> bool {
        false
    }

    fn replay(&self, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let device = self.context.device();
        if stream.device() != device {
            let what = format!("a graph of {device} cannot be replayed on {}", stream.device());
            return Err(DeviceError::State { device, what }.into());
        }
        let execute = self.context.acl().graph_execute().map_err(DeviceError::from)?;
        let _current = self.context.enter()?;
        // SAFETY: a live graph, and a live stream by the reference's own clause.
        Ok(self.context.check(unsafe { execute(self.raw, stream.raw()) })?)
    }
}

impl Drop for NpuGraph {
    fn drop(&mut self) {
        if let (Ok(destroy), Ok(_current)) = (self.context.acl().graph_destroy(), self.context.enter()) {
            // The runtime refuses to destroy a graph that is running.
            drop(self.context.synchronize());
            // SAFETY: captured once, destroyed here only, and not running.
            unsafe { destroy(self.raw) };
        }
    }
}

/// An event that takes the time.
#[derive(Debug)]
pub struct NpuEvent {
    context: Arc<Context>,
    raw: Handle,
    recorded: bool,
}

// SAFETY: an event may be used from any thread; the runtime has its own locks.
unsafe impl Send for NpuEvent {}

impl NpuEvent {
    pub(crate) fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let mut raw = std::ptr::null_mut();
        {
            let (create, _destroy) = (context.acl().event_create()?, context.acl().event_destroy()?);
            let _current = context.enter()?;
            // SAFETY: writes one handle.
            context.check(unsafe { create(&raw mut raw, TIME_LINE) })?;
        }
        Ok(NpuEvent { context, raw, recorded: false })
    }

    fn wait(&self) -> Result<(), DeviceError> {
        if !self.recorded {
            let what = "an event was not recorded".to_owned();
            return Err(DeviceError::State { device: self.context.device(), what });
        }
        // SAFETY: a live event.
        self.context.check(unsafe { self.context.acl().event_synchronize()?(self.raw) })
    }
}

impl Event for NpuEvent {
    fn record(&mut self, stream: StreamRef<'_>) -> Result<(), DeviceError> {
        let record = self.context.acl().event_record()?;
        let _current = self.context.enter()?;
        // SAFETY: a live event, and a live stream by the reference's own clause.
        self.context.check(unsafe { record(self.raw, stream.raw()) })?;
        self.recorded = true;
        Ok(())
    }

    fn elapsed_us(&self, earlier: &dyn Event) -> Result<f64, DeviceError> {
        let device = self.context.device();
        let earlier = earlier.as_any().downcast_ref::<NpuEvent>().filter(|e| e.context.device() == device);
        let Some(earlier) = earlier else {
            return Err(DeviceError::State { device, what: "the earlier event is of another device".to_owned() });
        };
        let elapsed = self.context.acl().event_elapsed()?;
        let _current = self.context.enter()?;
        earlier.wait()?;
        self.wait()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: two live events that have happened; writes one number.
        self.context.check(unsafe { elapsed(&raw mut milliseconds, earlier.raw, self.raw) })?;
        Ok(f64::from(milliseconds) * 1e3)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for NpuEvent {
    fn drop(&mut self) {
        if let (Ok(destroy), Ok(_current)) = (self.context.acl().event_destroy(), self.context.enter()) {
            // SAFETY: created in `new`, destroyed here only.
            unsafe { destroy(self.raw) };
        }
    }
}
