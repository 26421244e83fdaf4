// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What an operator library needs of a device.
//!
//! The library itself creates no context, no stream and no memory: operators run on a [`StreamRef`] that the caller
//! lends. The traits [`Device`], [`Stream`], [`Buffer`], [`Graph`] and [`Event`] are for programs that do own these things
//! through opweave, such as the numerics and benchmark harness.
//!
//! Selection never touches a device: it looks at a [`DeviceKey`], which can be written down for machines that are not
//! there.

mod activity;
mod buffer;
pub mod cpu;
mod device;
mod error;
mod fault;
mod graph;
mod host;
mod instruments;
mod key;
pub mod noop;
mod platform;
mod stream;
mod target;

pub use activity::{Activity, KernelSpan};
pub use buffer::{Buffer, through_the_host};
pub use device::{Communicator, Device};
pub use error::{DeviceError, LaunchError};
pub use fault::{DeviceFaults, Fault, FaultSink, HostFaults, RawFault, operation_code};
pub use graph::{Event, Graph};
pub use host::{HostGraph, HostStream, RecordedCall};
pub use instruments::Instruments;
pub use key::{Architecture, Capability, DeviceKey, Limits, ParseKeyError};
pub use platform::{Backend, BackendState, DeviceInfo, Platform};
pub use stream::{Stream, StreamBackend, StreamRef};
pub use target::{ImageTarget, ParseTargetError};

pub use opweave_tensor::{DeviceId, DeviceKind};
