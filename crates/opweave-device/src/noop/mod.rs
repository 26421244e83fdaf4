// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A device with no hardware behind it: the whole chain, every error of it included, runs in a test on any machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use opweave_tensor::{DeviceId, DeviceKind};

use crate::cpu::{HostBuffer, Serial};
use crate::{
    Backend, BackendState, Buffer, Device, DeviceError, DeviceInfo, DeviceKey, FaultSink, HostFaults, HostStream,
    Stream,
};

/// What a noop device is told to fail at, once each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The next allocation.
    Allocate,
    /// The next stream.
    Stream,
    /// The next fault buffer.
    Faults,
}

/// A device that allocates host memory, keeps a log of what was asked of it, and fails on demand.
#[derive(Debug)]
pub struct NoopDevice {
    info: DeviceInfo,
    graphs: AtomicBool,
    log: Mutex<Vec<String>>,
    failures: Mutex<Vec<Failure>>,
}

impl NoopDevice {
    /// The noop device with this index, which claims these features.
    pub fn new(index: u16, features: &[&str]) -> Self {
        NoopDevice {
            info: info(index, features),
            graphs: AtomicBool::new(true),
            log: Mutex::default(),
            failures: Mutex::default(),
        }
    }

    /// Makes the device fail once.
    pub fn fail(&self, failure: Failure) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }

    /// Says whether streams can be captured.
    pub fn set_graphs(&self, graphs: bool) {
        self.graphs.store(graphs, Ordering::Relaxed);
    }

    /// What was asked of the device, in order.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, what: String) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    fn fails(&self, failure: Failure) -> Option<DeviceError> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let at = failures.iter().position(|&f| f == failure)?;
        failures.remove(at);
        Some(DeviceError::Driver { device: self.info.id, code: 700, message: format!("told to fail at {failure:?}") })
    }
}

fn info(index: u16, features: &[&str]) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(DeviceKind::Noop, index),
        key: DeviceKey::noop(features),
        name: "noop".to_owned(),
        uuid: None,
        memory_bytes: None,
        multiprocessors: None,
        driver: None,
        runtime: None,
        graphs: true,
    }
}

/// A backend of `devices` noop devices that claim these features.
pub fn backend(devices: u16, features: &[&str]) -> Backend {
    let devices = (0..devices).map(|index| info(index, features)).collect();
    Backend { kind: DeviceKind::Noop, state: BackendState::Present(devices) }
}

impl Device for NoopDevice {
    fn id(&self) -> DeviceId {
        self.info.id
    }

    fn key(&self) -> &DeviceKey {
        &self.info.key
    }

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: usize, align: usize) -> Result<Box<dyn Buffer>, DeviceError> {
        self.note(format!("allocate {bytes} aligned {align}"));
        match self.fails(Failure::Allocate) {
            Some(error) => Err(error),
            None => Ok(Box::new(HostBuffer::new(self.info.id, bytes, align)?)),
        }
    }

    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        self.note("stream".to_owned());
        match self.fails(Failure::Stream) {
            Some(error) => Err(error),
            None => Ok(Box::new(HostStream::new(self.info.id, Arc::new(Serial)))),
        }
    }

    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError> {
        self.note("faults".to_owned());
        match self.fails(Failure::Faults) {
            Some(error) => Err(error),
            None => Ok(Box::new(HostFaults::default())),
        }
    }

    fn has_graphs(&self) -> bool {
        self.graphs.load(Ordering::Relaxed)
    }
}
