// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the machine offers, found without creating a device context. Every query is total: absent hardware is an answer.

use opweave_tensor::{DeviceId, DeviceKind};

use crate::DeviceKey;

/// What the probe knows of one device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Kind and index.
    pub id: DeviceId,
    /// What selection knows of it.
    pub key: DeviceKey,
    /// The product name.
    pub name: String,
    /// A name that survives reboots and renumbering, where there is one.
    pub uuid: Option<String>,
    /// Bytes of memory, where known.
    pub memory_bytes: Option<u64>,
    /// Multiprocessors, or cores of a CPU.
    pub multiprocessors: Option<u32>,
    /// Version of the driver, where there is one.
    pub driver: Option<String>,
    /// Version of the runtime, where there is one.
    pub runtime: Option<String>,
    /// Whether streams can be captured.
    pub graphs: bool,
}

/// What is known of one kind of device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackendState {
    /// There are devices.
    Present(Vec<DeviceInfo>),
    /// The driver is there and reports no device.
    NoDevice(String),
    /// The driver is not installed.
    Absent(String),
    /// The driver is installed and does not work: the loader's or the driver's own words.
    Broken(String),
    /// This build has no solution for the kind.
    NotCompiled,
}

impl BackendState {
    /// The state as a word.
    pub const fn word(&self) -> &'static str {
        match self {
            BackendState::Present(_) => "present",
            BackendState::NoDevice(_) => "no device",
            BackendState::Absent(_) => "absent",
            BackendState::Broken(_) => "broken",
            BackendState::NotCompiled => "not compiled",
        }
    }

    /// Why there is no device; `None` when there is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            BackendState::Present(_) => None,
            BackendState::NoDevice(why) | BackendState::Absent(why) | BackendState::Broken(why) => Some(why),
            BackendState::NotCompiled => Some("this build has no solution for it"),
        }
    }
}

/// One kind of device and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backend {
    /// The kind.
    pub kind: DeviceKind,
    /// What is known.
    pub state: BackendState,
}

/// What the machine offers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Platform {
    backends: Vec<Backend>,
}

impl Platform {
    /// A platform of these backends; a kind given twice keeps the first.
    pub fn new(backends: Vec<Backend>) -> Self {
        let mut platform = Platform::default();
        for backend in backends {
            if platform.backend(backend.kind).is_none() {
                platform.backends.push(backend);
            }
        }
        platform
    }

    /// All backends.
    pub fn backends(&self) -> &[Backend] {
        &self.backends
    }

    /// What is known of a kind; `None` when nobody probed it.
    pub fn backend(&self, kind: DeviceKind) -> Option<&Backend> {
        self.backends.iter().find(|b| b.kind == kind)
    }

    /// All devices.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceInfo> {
        self.backends.iter().flat_map(|b| match &b.state {
            BackendState::Present(devices) => devices.as_slice(),
            _ => &[],
        })
    }

    /// One device.
    pub fn device(&self, id: DeviceId) -> Option<&DeviceInfo> {
        self.devices().find(|d| d.id == id)
    }

    /// Why a device is not there, in words; `None` when it is.
    pub fn refusal(&self, id: DeviceId) -> Option<String> {
        if self.device(id).is_some() {
            return None;
        }
        let state = self.backend(id.kind).map_or(&BackendState::NotCompiled, |b| &b.state);
        Some(match state.reason() {
            Some(reason) => format!("{} is {}: {reason}", id.kind, state.word()),
            None => {
                let there: Vec<String> = self.devices().map(|d| d.id.to_string()).collect();
                format!("there is no {id}; there are {}", there.join(", "))
            }
        })
    }
}
