// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Contexts: the default one of each device, and which one is current on a thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use opweave_device::{DeviceError, DeviceInfo};
use opweave_tensor::{DeviceId, DeviceKind};

use crate::acl::{Acl, Handle};
use crate::instance::{Cann, Failed, cann, info};
use crate::status::{CONTEXT_NULL, SUCCESS, Status};

/// A device's default context, held while this lives. Buffers, streams and binaries each hold it, so that the order in which
/// they are dropped does not matter.
pub struct Context {
    cann: &'static Cann,
    info: DeviceInfo,
    raw: Handle,
}

// SAFETY: a context may be used from any thread; the runtime has its own locks.
unsafe impl Send for Context {}
// SAFETY: as for Send.
unsafe impl Sync for Context {}

impl Context {
    /// The default context of `device`, which is set up if nobody has yet.
    ///
    /// # Errors
    /// [`DeviceError`]: no CANN, no such device, or what the runtime says.
    pub fn primary(device: DeviceId) -> Result<Arc<Context>, DeviceError> {
        static CONTEXTS: OnceLock<Mutex<HashMap<u16, Weak<Context>>>> = OnceLock::new();
        let state = |what: String| DeviceError::State { device, what };
        if device.kind != DeviceKind::Npu {
            return Err(state("is no NPU".to_owned()));
        }
        let mut contexts = CONTEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = contexts.get(&device.index).and_then(Weak::upgrade) {
            return Ok(context);
        }
        let cann = cann()?;
        cann.initialise()?;
        let info = info(cann, u32::from(device.index)).map_err(|failed| match failed {
            Failed::NoDevice(reason) | Failed::Broken(reason) => state(reason),
        })?;
        let acl = cann.acl();
        let (set_device, reset_device) = (acl.set_device()?, acl.reset_device()?);
        let before = current(acl)?;
        // SAFETY: a plain number; makes the device's default context current on this thread.
        cann.check(device, unsafe { set_device(i32::from(device.index)) })?;
        let found = current(acl).and_then(|raw| {
            let what = || "the device has no default context".to_owned();
            if raw.is_null() { Err(DeviceError::State { device, what: what() }) } else { Ok(raw) }
        });
        let raw = match found {
            Ok(raw) => raw,
            Err(error) => {
                // SAFETY: set once, above.
                unsafe { reset_device(i32::from(device.index)) };
                return Err(error);
            }
        };
        let context = Arc::new(Context { cann, info, raw });
        // What was current on this thread is so again; where nothing was, the default context stays.
        if !before.is_null() && before != raw {
            // SAFETY: a context that was current a moment ago.
            context.check(unsafe { acl.set_context()?(before) })?;
        }
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

    /// The libraries.
    pub fn cann(&self) -> &'static Cann {
        self.cann
    }

    pub(crate) fn acl(&self) -> &'static Acl {
        self.cann.acl()
    }

    /// Makes the context current on this thread until the guard is dropped. What was current before is so again then; where
    /// nothing was, the context stays, since the runtime has no call for none.
    ///
    /// # Errors
    /// [`DeviceError`] of the runtime.
    #[inline]
    pub fn enter(&self) -> Result<Current<'_>, DeviceError> {
        let acl = self.acl();
        let before = current(acl)?;
        if before != self.raw {
            // SAFETY: the context is alive while `self` is.
            self.check(unsafe { acl.set_context()?(self.raw) })?;
        }
        let restore = if before == self.raw { std::ptr::null_mut() } else { before };
        Ok(Current { acl, restore, context: std::marker::PhantomData })
    }

    /// A status as an error of the device.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] for any status but success.
    #[inline]
    pub fn check(&self, status: Status) -> Result<(), DeviceError> {
        self.cann.check(self.info.id, status)
    }

    /// Waits for everything on the device.
    ///
    /// # Errors
    /// [`DeviceError`] of the work or the runtime.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let _current = self.enter()?;
        // SAFETY: a context is current.
        self.check(unsafe { self.acl().device_synchronize()?() })
    }
}

/// The context that is current on this thread; null where none is.
fn current(acl: &Acl) -> Result<Handle, DeviceError> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: writes one handle.
    match unsafe { acl.current_context()?(&raw mut raw) } {
        SUCCESS => Ok(raw),
        CONTEXT_NULL => Ok(std::ptr::null_mut()),
        status => {
            let reason = format!("aclrtGetCurrentContext: status {status}, {}", acl.explain(status));
            Err(DeviceError::MissingLibrary { library: Acl::FILE.to_owned(), reason })
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Ok(reset_device) = self.acl().reset_device() {
            // SAFETY: set once in `primary`; the runtime counts, so that others who set the device keep it.
            unsafe { reset_device(i32::from(self.info.id.index)) };
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "default context of {}", self.info.id)
    }
}

/// A context is current on this thread.
pub struct Current<'a> {
    acl: &'static Acl,
    restore: Handle,
    // Not Send: what is current belongs to a thread.
    context: std::marker::PhantomData<(&'a Context, *mut ())>,
}

impl Drop for Current<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.restore.is_null()
            && let Ok(set_context) = self.acl.set_context()
        {
            // Where it has gone with its device meanwhile, the runtime refuses, and ours stays.
            // SAFETY: a context that was current when this began.
            unsafe { set_context(self.restore) };
        }
    }
}
