// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The driver of this process, and what it says there is.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use opweave_device::{Backend, BackendState, DeviceError, DeviceInfo, DeviceKey, Limits};
use opweave_tensor::{DeviceId, DeviceKind};

use crate::driver::{Driver, ERROR_NO_DEVICE, SUCCESS};
use crate::library::LoadError;

/// `CU_DEVICE_ATTRIBUTE_*`.
pub(crate) mod attribute {
    pub(crate) const MULTIPROCESSORS: i32 = 16;
    pub(crate) const L2_BYTES: i32 = 38;
    pub(crate) const CAPABILITY_MAJOR: i32 = 75;
    pub(crate) const CAPABILITY_MINOR: i32 = 76;
    pub(crate) const SHARED_MEMORY_OPTIN: i32 = 97;
}

/// What loading and initialising the driver came to.
enum Instance {
    Ready(Box<Driver>),
    NoDevice(String),
    Absent(String),
    Broken(String),
}

fn instance() -> &'static Instance {
    static INSTANCE: OnceLock<Instance> = OnceLock::new();
    INSTANCE.get_or_init(|| start(Driver::load()))
}

fn start(loaded: Result<Driver, LoadError>) -> Instance {
    let driver = match loaded {
        Ok(driver) => driver,
        Err(error @ LoadError::Absent { .. }) => return Instance::Absent(error.to_string()),
        Err(error) => return Instance::Broken(error.to_string()),
    };
    // SAFETY: flags must be 0; may be called more than once.
    match unsafe { (driver.init)(0) } {
        SUCCESS => Instance::Ready(Box::new(driver)),
        ERROR_NO_DEVICE => Instance::NoDevice(driver.explain(ERROR_NO_DEVICE)),
        status => Instance::Broken(format!("cuInit: status {status}, {}", driver.explain(status))),
    }
}

/// The initialised driver of this process.
///
/// # Errors
/// [`DeviceError::MissingLibrary`] where there is none, or none that works.
pub fn driver() -> Result<&'static Driver, DeviceError> {
    match instance() {
        Instance::Ready(driver) => Ok(driver),
        Instance::NoDevice(reason) | Instance::Absent(reason) | Instance::Broken(reason) => {
            Err(DeviceError::MissingLibrary { library: "libcuda".to_owned(), reason: reason.clone() })
        }
    }
}

/// The GPUs of this machine, or why there are none. Creates no context.
pub fn backend() -> Backend {
    Backend { kind: DeviceKind::Cuda, state: state(instance()) }
}

fn state(instance: &Instance) -> BackendState {
    let driver = match instance {
        Instance::Ready(driver) => driver,
        Instance::NoDevice(reason) => return BackendState::NoDevice(reason.clone()),
        Instance::Absent(reason) => return BackendState::Absent(reason.clone()),
        Instance::Broken(reason) => return BackendState::Broken(reason.clone()),
    };
    match devices(driver) {
        Ok(devices) if devices.is_empty() => BackendState::NoDevice("the driver counts no device".to_owned()),
        Ok(devices) => BackendState::Present(devices),
        Err(reason) => BackendState::Broken(reason),
    }
}

fn devices(driver: &Driver) -> Result<Vec<DeviceInfo>, String> {
    let mut count = 0;
    // SAFETY: writes one integer.
    driver.said(unsafe { (driver.device_count)(&raw mut count) })?;
    (0..count).map(|index| info(driver, index)).collect()
}

/// The driver's handle of a device.
pub(crate) fn ordinal(driver: &Driver, index: c_int) -> Result<c_int, String> {
    let mut device = 0;
    // SAFETY: writes one integer.
    driver.said(unsafe { (driver.device_get)(&raw mut device, index) })?;
    Ok(device)
}

/// One number that the driver knows of a device.
pub(crate) fn query(driver: &Driver, device: c_int, attribute: c_int) -> Result<c_int, String> {
    let mut value = 0;
    // SAFETY: writes one integer.
    driver.said(unsafe { (driver.device_attribute)(&raw mut value, attribute, device) })?;
    Ok(value)
}

/// What the driver knows of a device.
pub(crate) fn info(driver: &Driver, index: c_int) -> Result<DeviceInfo, String> {
    let device = ordinal(driver, index)?;
    let number = |what| query(driver, device, what);
    let mut name = [0_u8; 256];
    let mut uuid = [0_u8; 16];
    let mut memory = 0;
    // SAFETY: writes at most as many bytes as it is told, with a zero at the end.
    driver.said(unsafe { (driver.device_name)(name.as_mut_ptr().cast(), 255, device) })?;
    // SAFETY: writes 16 bytes.
    driver.said(unsafe { (driver.device_uuid)(&raw mut uuid, device) })?;
    // SAFETY: writes one size.
    driver.said(unsafe { (driver.device_memory)(&raw mut memory, device) })?;
    let name = CStr::from_bytes_until_nul(&name).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let version = driver.version()?;
    let small = |value: c_int, what: &str| u8::try_from(value).map_err(|_| format!("{what} {value} is out of range"));
    let (major, minor) = (number(attribute::CAPABILITY_MAJOR)?, number(attribute::CAPABILITY_MINOR)?);
    let key = DeviceKey::cuda(small(major, "compute capability major")?, small(minor, "compute capability minor")?)
        .with_limits(Limits { shared_memory: u64::try_from(number(attribute::SHARED_MEMORY_OPTIN)?).unwrap_or(0) })
        .with_name(name.clone());
    Ok(DeviceInfo {
        id: DeviceId::new(
            DeviceKind::Cuda,
            u16::try_from(index).map_err(|_| format!("device {index} is out of range"))?,
        ),
        key,
        name,
        uuid: Some(uuid_text(uuid)),
        memory_bytes: Some(memory as u64),
        multiprocessors: u32::try_from(number(attribute::MULTIPROCESSORS)?).ok(),
        driver: Some(format!("CUDA {}.{}", version / 1000, version % 1000 / 10)),
        runtime: None,
        graphs: true,
    })
}

/// In the spelling of the driver's own tools.
fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = |range: std::ops::Range<usize>| bytes[range].iter().map(|b| format!("{b:02x}")).collect::<String>();
    format!("GPU-{}-{}-{}-{}-{}", hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16))
}

#[cfg(test)]
mod tests;
