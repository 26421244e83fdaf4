// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The runtime's functions, `libascendcl`. Names and signatures are those of the reference of CANN 8.x; `docs/npu.md` has the
//! table of what they were compared with.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::library::optional_functions;
use crate::status::{SUCCESS, Status, named};

/// `aclrtContext`, `aclrtStream`, `aclrtEvent`, `aclmdlRI`, `aclrtBinHandle`, `aclrtFuncHandle`.
pub(crate) type Handle = *mut c_void;

/// `aclrtPlaceHolderInfo`: where in the arguments an address is to be put, and of which of their bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceholderInfo {
    pub(crate) address_offset: u32,
    pub(crate) data_offset: u32,
}

/// `aclCANNPackageVersion`.
#[repr(C)]
pub(crate) struct PackageVersion {
    pub(crate) version: [c_char; 128],
    pub(crate) parts: [[c_char; 64]; 4],
    pub(crate) reserved: [c_char; 128],
}

const _: () = assert!(size_of::<PackageVersion>() == 512 && size_of::<PlaceholderInfo>() == 8);

optional_functions! {
    /// The functions of a loaded `libascendcl`.
    pub struct Acl of "libascendcl.so" {
        init = "aclInit"(*const c_char) -> Status;
        recent_message = "aclGetRecentErrMsg"() -> *const c_char;
        package_version = "aclsysGetCANNVersion"(c_int, *mut PackageVersion) -> Status;
        version_text = "aclsysGetVersionStr"(*mut c_char, *mut c_char) -> Status;
        device_count = "aclrtGetDeviceCount"(*mut u32) -> Status;
        chip_name = "aclrtGetSocName"() -> *const c_char;
        device_attribute = "aclrtGetDeviceInfo"(u32, c_int, *mut i64) -> Status;
        set_device = "aclrtSetDevice"(i32) -> Status;
        reset_device = "aclrtResetDevice"(i32) -> Status;
        current_context = "aclrtGetCurrentContext"(*mut Handle) -> Status;
        set_context = "aclrtSetCurrentContext"(Handle) -> Status;
        device_synchronize = "aclrtSynchronizeDevice"() -> Status;
        memory_allocate = "aclrtMalloc"(*mut *mut c_void, usize, c_int) -> Status;
        memory_free = "aclrtFree"(*mut c_void) -> Status;
        memory_copy = "aclrtMemcpy"(*mut c_void, usize, *const c_void, usize, c_int) -> Status;
        memory_set = "aclrtMemset"(*mut c_void, usize, i32, usize) -> Status;
        stream_create = "aclrtCreateStreamWithConfig"(*mut Handle, u32, u32) -> Status;
        stream_destroy = "aclrtDestroyStream"(Handle) -> Status;
        stream_synchronize = "aclrtSynchronizeStream"(Handle) -> Status;
        event_create = "aclrtCreateEventWithFlag"(*mut Handle, u32) -> Status;
        event_destroy = "aclrtDestroyEvent"(Handle) -> Status;
        event_record = "aclrtRecordEvent"(Handle, Handle) -> Status;
        event_synchronize = "aclrtSynchronizeEvent"(Handle) -> Status;
        event_elapsed = "aclrtEventElapsedTime"(*mut f32, Handle, Handle) -> Status;
        capture_begin = "aclmdlRICaptureBegin"(Handle, c_int) -> Status;
        capture_state = "aclmdlRICaptureGetInfo"(Handle, *mut c_int, *mut Handle) -> Status;
        capture_end = "aclmdlRICaptureEnd"(Handle, *mut Handle) -> Status;
        graph_execute = "aclmdlRIExecuteAsync"(Handle, Handle) -> Status;
        graph_destroy = "aclmdlRIDestroy"(Handle) -> Status;
        binary_load = "aclrtBinaryLoadFromFile"(*const c_char, *mut c_void, *mut Handle) -> Status;
        binary_unload = "aclrtBinaryUnLoad"(Handle) -> Status;
        binary_function = "aclrtBinaryGetFunction"(Handle, *const c_char, *mut Handle) -> Status;
        launch = "aclrtLaunchKernelWithHostArgs"(
            Handle, u32, Handle, *mut c_void, *mut c_void, usize, *mut PlaceholderInfo, usize,
        ) -> Status;
    }
}

impl Acl {
    /// What a status means: its name, its class, and what the library last said on this thread.
    #[cold]
    pub(crate) fn explain(&self, status: Status) -> String {
        let name = named(status);
        let Ok(recent) = self.recent_message() else { return name };
        // SAFETY: takes no argument; null or a string that lives until the thread's next error.
        let text = unsafe { recent() };
        if text.is_null() {
            return name;
        }
        // SAFETY: not null, and a string with its end, read before the thread calls the library again.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().replace('\n', "; ");
        if text.is_empty() { name } else { format!("{name}: {text}") }
    }

    /// A status of a call that belongs to no device.
    pub(crate) fn said(&self, what: &str, status: Status) -> Result<(), String> {
        if status == SUCCESS { Ok(()) } else { Err(format!("{what}: status {status}, {}", self.explain(status))) }
    }

    /// Whether streams can be captured.
    pub(crate) fn has_graphs(&self) -> bool {
        self.capture_begin().is_ok()
            && self.capture_state().is_ok()
            && self.capture_end().is_ok()
            && self.graph_execute().is_ok()
            && self.graph_destroy().is_ok()
    }
}
