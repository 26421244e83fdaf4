// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! CUPTI's activity records: when each kernel ran, those inside graphs too.
//!
//! The library is looked for when records are first asked for: in the file that `OPWEAVE_CUPTI` names, else by its name on the
//! system's search path, else where a toolkit has it. Names, signatures and the places of fields are those of the CUPTI
//! reference; kernel records have had them alike from CUDA 9 to 13.

mod records;

use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use opweave_device::DeviceError;
use opweave_tensor::DeviceId;

pub use records::CudaActivity;

use crate::driver::Opaque;
use crate::library::{LoadError, first, foreign_functions};

/// `CUPTI_SUCCESS`.
const SUCCESS: c_int = 0;

/// Hands out a buffer: its address, its size, and the most records that it may hold, 0 for as many as fit.
type Requested = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
/// Takes a buffer back: context, stream, address, size, and how many bytes hold records.
type Completed = unsafe extern "C" fn(Opaque, u32, *mut u8, usize, usize);

foreign_functions! {
    /// The functions of a loaded CUPTI.
    pub struct Cupti {
        register_callbacks = "cuptiActivityRegisterCallbacks"(Requested, Completed);
        enable = "cuptiActivityEnable"(u32);
        disable = "cuptiActivityDisable"(u32);
        flush = "cuptiActivityFlushAll"(u32);
        next_record = "cuptiActivityGetNextRecord"(*mut u8, usize, *mut *mut c_void);
        dropped_records = "cuptiActivityGetNumDroppedRecords"(Opaque, u32, *mut usize);
        result_string = "cuptiGetResultString"(c_int, *mut *const c_char);
    }
}

/// The library's file names, newest first.
const NAMES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];
/// Where a toolkit has it, from the toolkit's root.
const IN_TOOLKIT: [&str; 2] = ["extras/CUPTI/lib64/libcupti.so", "lib64/libcupti.so"];

impl Cupti {
    /// The library of this process, loaded at the first call.
    ///
    /// # Errors
    /// [`DeviceError::MissingLibrary`] or [`DeviceError::MissingSymbol`].
    pub fn library() -> Result<&'static Cupti, DeviceError> {
        static LIBRARY: OnceLock<Result<Cupti, LoadError>> = OnceLock::new();
        LIBRARY
            .get_or_init(|| first(&places(), |name| Cupti::open(name)))
            .as_ref()
            .map_err(|error| missing(error.clone()))
    }

    /// A status as an error of `device`.
    fn check(&self, device: DeviceId, status: c_int) -> Result<(), DeviceError> {
        if status == SUCCESS {
            return Ok(());
        }
        let mut text = std::ptr::null();
        // SAFETY: writes one pointer, to static text.
        let known = unsafe { (self.result_string)(status, &raw mut text) } == SUCCESS && !text.is_null();
        // SAFETY: not null, and a string of the library's that is never freed.
        let words = known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        let message = format!("CUPTI: {}", words.as_deref().unwrap_or("a status that the library does not explain"));
        Err(DeviceError::Driver { device, code: i64::from(status), message })
    }
}

impl std::fmt::Debug for Cupti {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUPTI {}", self.name())
    }
}

/// Where the library is looked for, in this order.
fn places() -> Vec<String> {
    if let Some(file) = env::var_os("OPWEAVE_CUPTI").filter(|file| !file.is_empty()) {
        return vec![file.to_string_lossy().into_owned()];
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(|name| env::var(name).ok());
    let toolkits = toolkits.chain(["/usr/local/cuda".to_owned()]);
    let inside = toolkits.flat_map(|root| IN_TOOLKIT.map(|file| format!("{root}/{file}")));
    NAMES.into_iter().map(str::to_owned).chain(inside).collect()
}

fn missing(error: LoadError) -> DeviceError {
    match error {
        LoadError::Absent { library, reason } | LoadError::Broken { library, reason } => {
            DeviceError::MissingLibrary { library, reason }
        }
        LoadError::Symbol { library, symbol } => DeviceError::MissingSymbol { library, symbol },
    }
}

#[cfg(test)]
mod tests;
