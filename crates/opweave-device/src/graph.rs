// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Graphs of captured calls, and events.

use std::any::Any;

use crate::{DeviceError, LaunchError, StreamRef};

/// Captured calls that can be replayed with the arguments and memory they were captured with.
pub trait Graph: Send {
    /// How many operator calls were captured, as far as the device counts them.
    fn calls(&self) -> usize;
    /// Whether [`Graph::calls`] counts them: not every driver tells how much a graph holds.
    fn is_counted(&self) -> bool {
        true
    }
    /// Runs all calls again, on the contents that their memory has now.
    ///
    /// # Errors
    /// [`LaunchError`] of the launch, or of a call on the host.
    fn replay(&self, stream: StreamRef<'_>) -> Result<(), LaunchError>;
}

/// A point in a stream's work.
pub trait Event: Send + Any {
    /// Marks the point that the stream's work has reached.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    fn record(&mut self, stream: StreamRef<'_>) -> Result<(), DeviceError>;
    /// Microseconds from `earlier` to this event. Waits for both.
    ///
    /// # Errors
    /// [`DeviceError::State`] when either was not recorded or `earlier` is of another device.
    fn elapsed_us(&self, earlier: &dyn Event) -> Result<f64, DeviceError>;
    /// The event as `Any`, so that two events of one device can find each other.
    fn as_any(&self) -> &dyn Any;
}
