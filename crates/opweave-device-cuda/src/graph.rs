// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Captured graphs, and events.

use std::any::Any;
use std::sync::Arc;

use opweave_device::{DeviceError, Event, Graph, LaunchError, StreamRef};

use crate::Context;
use crate::driver::Opaque;

/// A captured graph, instantiated.
#[derive(Debug)]
pub struct CudaGraph {
    context: Arc<Context>,
    executable: Opaque,
    nodes: usize,
}

// SAFETY: a graph may be launched from any thread, one at a time, which `&mut`-free use behind Send allows.
unsafe impl Send for CudaGraph {}

impl CudaGraph {
    /// Instantiates `graph` and destroys it.
    pub(crate) fn instantiate(context: Arc<Context>, graph: Opaque) -> Result<Self, DeviceError> {
        let driver = context.driver();
        if graph.is_null() {
            let what = "the capture was invalidated by a call that cannot be captured".to_owned();
            return Err(DeviceError::State { device: context.device(), what });
        }
        let (mut executable, mut nodes) = (std::ptr::null_mut(), 0);
        // SAFETY: a live graph; with no array only the count is written.
        let counted = unsafe { (driver.graph_nodes)(graph, std::ptr::null_mut(), &raw mut nodes) };
        // SAFETY: a live graph; writes one handle.
        let made = unsafe { (driver.graph_instantiate)(&raw mut executable, graph, 0) };
        // SAFETY: the graph is ours, and an instance does not need it.
        let destroyed = unsafe { (driver.graph_destroy)(graph) };
        context.check(made)?;
        let graph = CudaGraph { context, executable, nodes };
        graph.context.check(counted)?;
        graph.context.check(destroyed)?;
        Ok(graph)
    }
}

impl Graph for CudaGraph {
    fn calls(&self) -> usize {
        self.nodes
    }

    fn replay(&self, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let device = self.context.device();
        if stream.device() != device {
            let what = format!("a graph of {device} cannot be replayed on {}", stream.device());
            return Err(DeviceError::State { device, what }.into());
        }
        let _current = self.context.enter()?;
        // SAFETY: a live instance, and a live stream by the reference's own clause.
        let status = unsafe { (self.context.driver().graph_launch)(self.executable, stream.raw()) };
        Ok(self.context.check(status)?)
    }
}

impl Drop for CudaGraph {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.enter() {
            // SAFETY: instantiated once, destroyed here only; the driver lets launches finish.
            unsafe { (self.context.driver().executable_destroy)(self.executable) };
        }
    }
}

/// An event that takes the time.
#[derive(Debug)]
pub struct CudaEvent {
    context: Arc<Context>,
    raw: Opaque,
    recorded: bool,
}

// SAFETY: an event may be used from any thread; the driver has its own locks.
unsafe impl Send for CudaEvent {}

impl CudaEvent {
    pub(crate) fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let mut raw = std::ptr::null_mut();
        {
            let _current = context.enter()?;
            // SAFETY: writes one handle. Flags 0: with timing.
            context.check(unsafe { (context.driver().event_create)(&raw mut raw, 0) })?;
        }
        Ok(CudaEvent { context, raw, recorded: false })
    }

    fn wait(&self) -> Result<(), DeviceError> {
        if !self.recorded {
            let what = "an event was not recorded".to_owned();
            return Err(DeviceError::State { device: self.context.device(), what });
        }
        // SAFETY: a live event.
        self.context.check(unsafe { (self.context.driver().event_synchronize)(self.raw) })
    }
}

impl Event for CudaEvent {
    fn record(&mut self, stream: StreamRef<'_>) -> Result<(), DeviceError> {
        let _current = self.context.enter()?;
        // SAFETY: a live event, and a live stream by the reference's own clause.
        self.context.check(unsafe { (self.context.driver().event_record)(self.raw, stream.raw()) })?;
        self.recorded = true;
        Ok(())
    }

    fn elapsed_us(&self, earlier: &dyn Event) -> Result<f64, DeviceError> {
        let device = self.context.device();
        let earlier = earlier.as_any().downcast_ref::<CudaEvent>().filter(|e| e.context.device() == device);
        let Some(earlier) = earlier else {
            return Err(DeviceError::State { device, what: "the earlier event is of another device".to_owned() });
        };
        let _current = self.context.enter()?;
        earlier.wait()?;
        self.wait()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: two live events that have happened; writes one number.
        let status = unsafe { (self.context.driver().event_elapsed)(&raw mut milliseconds, earlier.raw, self.raw) };
        self.context.check(status)?;
        Ok(f64::from(milliseconds) * 1e3)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if let Ok(_current) = self.context.enter() {
            // SAFETY: created in `new`, destroyed here only.
            unsafe { (self.context.driver().event_destroy)(self.raw) };
        }
    }
}
