// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Contexts: the primary one of each device, and which one is current on a thread.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use opweave_device::{DeviceError, DeviceInfo};
use opweave_tensor::{DeviceId, DeviceKind};

use crate::driver::{Driver, Opaque};
use crate::instance::{attribute, driver, info, ordinal, query};
use crate::module::Modules;

/// A device's primary context, retained while this lives. Buffers, streams and modules each hold it, so that the order in which
/// they are dropped does not matter.
pub struct Context {
    driver: &'static Driver,
    info: DeviceInfo,
    ordinal: c_int,
    raw: Opaque,
    pub(crate) modules: Modules,
}

// SAFETY: a context may be used from any thread; the driver has its own locks.
unsafe impl Send for Context {}
// SAFETY: as for Send.
unsafe impl Sync for Context {}

impl Context {
    /// The primary context of `device`, created if nobody has yet.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, no such device, or what the driver says.
    pub fn primary(device: DeviceId) -> Result<Arc<Context>, DeviceError> {
        static CONTEXTS: OnceLock<Mutex<HashMap<u16, Weak<Context>>>> = OnceLock::new();
        let state = |what: String| DeviceError::State { device, what };
        if device.kind != DeviceKind::Cuda {
            return Err(state("is no CUDA device".to_owned()));
        }
        let mut contexts = CONTEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = contexts.get(&device.index).and_then(Weak::upgrade) {
            return Ok(context);
        }
        let driver = driver()?;
        let index = c_int::from(device.index);
        let found = ordinal(driver, index).and_then(|ordinal| Ok((ordinal, info(driver, index)?)));
        let (ordinal, info) = found.map_err(state)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes one handle.
        driver.check(device, unsafe { (driver.primary_retain)(&raw mut raw, ordinal) })?;
        let context = Arc::new(Context { driver, info, ordinal, raw, modules: Modules::default() });
        contexts.insert(device.index, Arc::downgrade(&context));
        Ok(context)
    }

    /// The device.
    pub fn device(&self) -> DeviceId {
        self.info.id
    }

    /// What is known of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Bytes of the second-level cache.
    pub fn level_two_cache(&self) -> Option<u64> {
        let bytes = query(self.driver, self.ordinal, attribute::L2_BYTES).ok()?;
        u64::try_from(bytes).ok().filter(|&bytes| bytes > 0)
    }

    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// Makes the context current on this thread until the guard is dropped. What was current before is so again then.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver.
    #[inline]
    pub fn enter(&self) -> Result<Current<'_>, DeviceError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: writes one handle.
        self.check(unsafe { (self.driver.context_current)(&raw mut current) })?;
        let pushed = current != self.raw;
        if pushed {
            // SAFETY: the context is alive while `self` is.
            self.check(unsafe { (self.driver.context_push)(self.raw) })?;
        }
        Ok(Current { driver: self.driver, pushed, context: std::marker::PhantomData })
    }

    /// A status as an error of the device.
    #[inline]
    pub(crate) fn check(&self, status: i32) -> Result<(), DeviceError> {
        self.driver.check(self.info.id, status)
    }

    /// Waits for everything on the device.
    ///
    /// # Errors
    /// [`DeviceError`] of the work or the driver.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let _current = self.enter()?;
        // SAFETY: a context is current.
        self.check(unsafe { (self.driver.context_synchronize)() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.modules.unload(self.driver, self.raw);
        // SAFETY: retained once in `primary`. A driver that is shutting down refuses, and there is nothing left to do then.
        unsafe { (self.driver.primary_release)(self.ordinal) };
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "primary context of {}", self.info.id)
    }
}

/// A context is current on this thread.
pub struct Current<'a> {
    driver: &'static Driver,
    pushed: bool,
    // Not Send: what is current belongs to a thread.
    context: std::marker::PhantomData<(&'a Context, *mut ())>,
}

impl Drop for Current<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = std::ptr::null_mut();
            // SAFETY: pops what `enter` pushed on this thread.
            unsafe { (self.driver.context_pop)(&raw mut popped) };
        }
    }
}
