// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which device a view's memory belongs to.

use std::fmt;
use std::str::FromStr;

/// A kind of device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
#[repr(u8)]
pub enum DeviceKind {
    /// The host processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An Ascend NPU.
    Npu,
    /// A device that runs the whole chain and no hardware: for tests.
    Noop,
}

impl DeviceKind {
    /// Every kind, in declaration order.
    pub const ALL: &'static [DeviceKind] = &[DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Npu, DeviceKind::Noop];

    /// The name used in row names, reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Npu => "npu",
            DeviceKind::Noop => "noop",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DeviceKind {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DeviceKind::ALL
            .iter()
            .copied()
            .find(|k| k.name() == text)
            .ok_or_else(|| ParseDeviceError { text: text.to_owned(), expected: "one of cpu, cuda, npu, noop" })
    }
}

/// One device of this process: its kind and the index by which the driver counts it. Marks views and streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId {
    /// The kind.
    pub kind: DeviceKind,
    /// The index within the kind.
    pub index: u16,
}

impl DeviceId {
    /// The host processor.
    pub const CPU: DeviceId = DeviceId::new(DeviceKind::Cpu, 0);

    /// The device of `kind` with the given index.
    pub const fn new(kind: DeviceKind, index: u16) -> Self {
        DeviceId { kind, index }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            DeviceKind::Cpu if self.index == 0 => f.pad("cpu"),
            kind => f.pad(&format!("{kind}:{}", self.index)),
        }
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("device `{text}` is not understood; expected {expected}")]
pub struct ParseDeviceError {
    /// The offending text.
    pub text: String,
    /// What would have been legal.
    pub expected: &'static str,
}

impl FromStr for DeviceId {
    type Err = ParseDeviceError;

    /// Reads `cpu`, `cuda:0`, `npu:3`; a kind alone means index 0.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, index) = text.split_once(':').unwrap_or((text, "0"));
        let index = index.parse().map_err(|_| ParseDeviceError {
            text: text.to_owned(),
            expected: "a kind and an index, such as cpu, cuda:0 or npu:3",
        })?;
        Ok(DeviceId::new(kind.parse()?, index))
    }
}
