// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Events of host streams: the monotonic clock.

use std::any::Any;
use std::time::Instant;

use opweave_tensor::DeviceId;

use crate::{DeviceError, Event, StreamRef};

/// A moment on the monotonic clock. Host streams have finished their work when a call returns, so the moment is the point.
#[derive(Debug)]
pub struct HostEvent {
    device: DeviceId,
    at: Option<Instant>,
}

impl HostEvent {
    /// An event of `device` that was not recorded.
    pub fn new(device: DeviceId) -> Self {
        HostEvent { device, at: None }
    }
}

impl Event for HostEvent {
    fn record(&mut self, _stream: StreamRef<'_>) -> Result<(), DeviceError> {
        self.at = Some(Instant::now());
        Ok(())
    }

    fn elapsed_us(&self, earlier: &dyn Event) -> Result<f64, DeviceError> {
        let state = |what: &str| DeviceError::State { device: self.device, what: what.to_owned() };
        let earlier = earlier.as_any().downcast_ref::<HostEvent>().filter(|e| e.device == self.device);
        let earlier = earlier.ok_or_else(|| state("events of two devices"))?;
        match (earlier.at, self.at) {
            (Some(start), Some(end)) => Ok(end.saturating_duration_since(start).as_secs_f64() * 1e6),
            _ => Err(state("an event was not recorded")),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
