// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The driver's functions. Names and signatures are those of the CUDA driver API's reference.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use opweave_device::DeviceError;
use opweave_tensor::DeviceId;

use crate::library::{LoadError, first, foreign_functions};

/// `CUresult`.
pub(crate) type Status = c_int;
/// `CUcontext`, `CUstream`, `CUmodule` and the like.
pub(crate) type Opaque = *mut c_void;
/// `CUdeviceptr`.
pub(crate) type Address = u64;

pub(crate) const SUCCESS: Status = 0;
pub(crate) const ERROR_NO_DEVICE: Status = 100;

/// `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_memory: c_uint,
    pub(crate) stream: Opaque,
    pub(crate) attributes: *mut LaunchAttribute,
    pub(crate) attribute_count: c_uint,
}

/// `CUlaunchAttribute`: an id, padding to 8 bytes, and a union of 64 bytes.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_uint,
    pub(crate) padding: c_uint,
    pub(crate) value: [c_uint; 16],
}

const _: () = assert!(size_of::<LaunchConfig>() == 56 && size_of::<LaunchAttribute>() == 72);

foreign_functions! {
    /// The functions of a loaded driver.
    pub struct Driver {
        init = "cuInit"(c_uint);
        driver_version = "cuDriverGetVersion"(*mut c_int);
        device_count = "cuDeviceGetCount"(*mut c_int);
        device_get = "cuDeviceGet"(*mut c_int, c_int);
        device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
        device_uuid = "cuDeviceGetUuid_v2"(*mut [u8; 16], c_int);
        device_memory = "cuDeviceTotalMem_v2"(*mut usize, c_int);
        device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_int, c_int);
        primary_retain = "cuDevicePrimaryCtxRetain"(*mut Opaque, c_int);
        primary_release = "cuDevicePrimaryCtxRelease_v2"(c_int);
        context_push = "cuCtxPushCurrent_v2"(Opaque);
        context_pop = "cuCtxPopCurrent_v2"(*mut Opaque);
        context_current = "cuCtxGetCurrent"(*mut Opaque);
        context_synchronize = "cuCtxSynchronize"();
        memory_allocate = "cuMemAlloc_v2"(*mut Address, usize);
        memory_free = "cuMemFree_v2"(Address);
        memory_to_device = "cuMemcpyHtoD_v2"(Address, *const c_void, usize);
        memory_to_host = "cuMemcpyDtoH_v2"(*mut c_void, Address, usize);
        memory_within = "cuMemcpyDtoD_v2"(Address, Address, usize);
        memory_set = "cuMemsetD8_v2"(Address, u8, usize);
        stream_create = "cuStreamCreate"(*mut Opaque, c_uint);
        stream_destroy = "cuStreamDestroy_v2"(Opaque);
        stream_synchronize = "cuStreamSynchronize"(Opaque);
        stream_capturing = "cuStreamIsCapturing"(Opaque, *mut c_int);
        capture_begin = "cuStreamBeginCapture_v2"(Opaque, c_uint);
        capture_end = "cuStreamEndCapture"(Opaque, *mut Opaque);
        graph_nodes = "cuGraphGetNodes"(Opaque, *mut Opaque, *mut usize);
        graph_instantiate = "cuGraphInstantiateWithFlags"(*mut Opaque, Opaque, u64);
        graph_destroy = "cuGraphDestroy"(Opaque);
        graph_launch = "cuGraphLaunch"(Opaque, Opaque);
        executable_destroy = "cuGraphExecDestroy"(Opaque);
        event_create = "cuEventCreate"(*mut Opaque, c_uint);
        event_record = "cuEventRecord"(Opaque, Opaque);
        event_synchronize = "cuEventSynchronize"(Opaque);
        event_elapsed = "cuEventElapsedTime"(*mut f32, Opaque, Opaque);
        event_destroy = "cuEventDestroy_v2"(Opaque);
        module_load = "cuModuleLoadData"(*mut Opaque, *const c_void);
        module_unload = "cuModuleUnload"(Opaque);
        module_function = "cuModuleGetFunction"(*mut Opaque, Opaque, *const c_char);
        function_attribute = "cuFuncSetAttribute"(Opaque, c_int, c_int);
        active_clusters = "cuOccupancyMaxActiveClusters"(*mut c_int, Opaque, *const LaunchConfig);
        launch = "cuLaunchKernelEx"(*const LaunchConfig, Opaque, *mut *mut c_void, *mut *mut c_void);
        error_name = "cuGetErrorName"(Status, *mut *const c_char);
        error_string = "cuGetErrorString"(Status, *mut *const c_char);
    }
}

/// The names of the driver's library, in the order in which they are tried.
#[cfg(windows)]
const NAMES: [&str; 1] = ["nvcuda.dll"];
#[cfg(not(windows))]
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

impl Driver {
    /// Loads the system's driver.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load() -> Result<Self, LoadError> {
        first(&NAMES.map(str::to_owned), |name| Driver::open(name))
    }

    /// The newest version of CUDA that the driver serves, as `1000 * major + 10 * minor`.
    ///
    /// # Errors
    /// The driver's status.
    pub(crate) fn version(&self) -> Result<i32, String> {
        let mut version = 0;
        // SAFETY: writes one integer.
        self.said(unsafe { (self.driver_version)(&raw mut version) })?;
        Ok(version)
    }

    /// The driver's name of a status and its explanation.
    pub(crate) fn explain(&self, status: Status) -> String {
        let text = |lookup: unsafe extern "C" fn(Status, *mut *const c_char) -> Status| {
            let mut text = std::ptr::null();
            // SAFETY: writes one pointer; what it points to is static text.
            let known = unsafe { lookup(status, &raw mut text) } == SUCCESS && !text.is_null();
            // SAFETY: not null, and a string of the driver's that is never freed.
            known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        match (text(self.error_name), text(self.error_string)) {
            (Some(name), Some(words)) => format!("{name}: {words}"),
            (Some(name), None) => name,
            _ => "a status that the driver does not explain".to_owned(),
        }
    }

    /// A status of a call that belongs to no device.
    pub(crate) fn said(&self, status: Status) -> Result<(), String> {
        if status == SUCCESS { Ok(()) } else { Err(format!("status {status}, {}", self.explain(status))) }
    }

    /// A status as an error of `device`.
    #[inline]
    pub(crate) fn check(&self, device: DeviceId, status: Status) -> Result<(), DeviceError> {
        if status == SUCCESS { Ok(()) } else { Err(self.error(device, status)) }
    }

    #[cold]
    pub(crate) fn error(&self, device: DeviceId, status: Status) -> DeviceError {
        DeviceError::Driver { device, code: i64::from(status), message: self.explain(status) }
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUDA driver {}", self.name)
    }
}
