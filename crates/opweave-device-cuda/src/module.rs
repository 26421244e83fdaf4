// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernel images on a device.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

use opweave_device::DeviceError;

use crate::Context;
use crate::driver::{Driver, Opaque, SUCCESS};

/// The modules of a context, each loaded once, unloaded with it.
#[derive(Default)]
pub(crate) struct Modules {
    loaded: Mutex<HashMap<String, Opaque>>,
}

impl Modules {
    pub(crate) fn unload(&mut self, driver: &Driver, context: Opaque) {
        let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
        if loaded.is_empty() {
            return;
        }
        // SAFETY: the context is still retained.
        if unsafe { (driver.context_push)(context) } == SUCCESS {
            for (_, module) in loaded.drain() {
                // SAFETY: loaded once, unloaded here only; functions of it hold the context, which is being dropped.
                unsafe { (driver.module_unload)(module) };
            }
            let mut popped = std::ptr::null_mut();
            // SAFETY: pops what was pushed above.
            unsafe { (driver.context_pop)(&raw mut popped) };
        }
    }
}

/// An image loaded into a context. Lives as long as the context.
#[derive(Clone)]
pub struct Module {
    context: Arc<Context>,
    raw: Opaque,
    name: Arc<str>,
}

// SAFETY: a module may be used from any thread; the driver has its own locks.
unsafe impl Send for Module {}
// SAFETY: as for Send.
unsafe impl Sync for Module {}

impl Module {
    /// Loads `image`, a fatbin or a cubin, or finds it loaded under the same name.
    ///
    /// # Errors
    /// [`DeviceError::Driver`]: most likely no code in the image is for the device, or the driver is older than the image.
    pub fn load(context: &Arc<Context>, name: &str, image: &[u8]) -> Result<Module, DeviceError> {
        let mut loaded = context.modules.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = match loaded.get(name) {
            Some(&raw) => raw,
            None => {
                // The driver reads words, and finds the end by the image's own header.
                let mut words = vec![0_u64; image.len().div_ceil(8)];
                for (word, bytes) in words.iter_mut().zip(image.chunks(8)) {
                    let mut padded = [0; 8];
                    padded[..bytes.len()].copy_from_slice(bytes);
                    *word = u64::from_ne_bytes(padded);
                }
                let _current = context.enter()?;
                let mut raw = std::ptr::null_mut();
                // SAFETY: the image is alive during the call and says its own size; writes one handle.
                let status = unsafe { (context.driver().module_load)(&raw mut raw, words.as_ptr().cast()) };
                context.check(status).map_err(|error| error.doing(&format!("loading the image of {name}")))?;
                loaded.insert(name.to_owned(), raw);
                raw
            }
        };
        Ok(Module { context: context.clone(), raw, name: name.into() })
    }

    /// A kernel of the module by its name in the image.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] where there is none of that name.
    pub fn function(&self, entry: &str) -> Result<Function, DeviceError> {
        let what = || format!("finding {entry} in the image of {}", self.name);
        let device = self.context.device();
        let symbol = CString::new(entry).map_err(|_| DeviceError::State { device, what: what() })?;
        let _current = self.context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a live module and a string with its end; writes one handle.
        let status = unsafe { (self.context.driver().module_function)(&raw mut raw, self.raw, symbol.as_ptr()) };
        self.context.check(status).map_err(|error| error.doing(&what()))?;
        Ok(Function { context: self.context.clone(), raw })
    }
}

/// A kernel, ready to be launched on its device. Holds the context, and with it the module.
#[derive(Clone)]
pub struct Function {
    pub(crate) context: Arc<Context>,
    pub(crate) raw: Opaque,
}

// SAFETY: a function may be launched from any thread; the driver has its own locks.
unsafe impl Send for Function {}
// SAFETY: as for Send.
unsafe impl Sync for Function {}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kernel {:p} of {}", self.raw, self.context.device())
    }
}
