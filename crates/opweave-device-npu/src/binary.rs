// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels of one's own: binaries that the vendor's compiler has made, loaded and launched.

use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::Context;
use crate::acl::{Handle, PlaceholderInfo};

/// A loaded binary. Unloaded when the last of its functions is dropped.
struct Loaded {
    context: Arc<Context>,
    raw: Handle,
    name: String,
}

// SAFETY: a binary may be used from any thread; the runtime has its own locks.
unsafe impl Send for Loaded {}
// SAFETY: as for Send.
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let (Ok(unload), Ok(_current)) = (self.context.acl().binary_unload(), self.context.enter()) {
            // Kernels of it may still be running.
            drop(self.context.synchronize());
            // SAFETY: loaded once, unloaded here only.
            unsafe { unload(self.raw) };
        }
    }
}

/// A kernel binary on a device.
#[derive(Clone)]
pub struct Binary {
    loaded: Arc<Loaded>,
}

impl Binary {
    /// Loads a file that `bisheng` or `ccec` has linked.
    ///
    /// # Errors
    /// [`DeviceError`]: the runtime cannot load binaries, or refuses this one.
    pub fn load(context: &Arc<Context>, file: &Path) -> Result<Binary, DeviceError> {
        let name = file.display().to_string();
        let device = context.device();
        let path = CString::new(file.as_os_str().as_encoded_bytes())
            .map_err(|_| DeviceError::State { device, what: format!("the file name `{name}` holds a zero") })?;
        let (load, _unload) = (context.acl().binary_load()?, context.acl().binary_unload()?);
        let _current = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a string with its end, no options; writes one handle.
        let status = unsafe { load(path.as_ptr(), std::ptr::null_mut(), &raw mut raw) };
        context.check(status).map_err(|error| error.doing(&format!("loading the binary {name}")))?;
        Ok(Binary { loaded: Arc::new(Loaded { context: context.clone(), raw, name }) })
    }

    /// A kernel of the binary by its name.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] where there is none of that name.
    pub fn function(&self, entry: &str) -> Result<Function, DeviceError> {
        let context = &self.loaded.context;
        let what = || format!("finding {entry} in the binary {}", self.loaded.name);
        let symbol = CString::new(entry).map_err(|_| DeviceError::State { device: context.device(), what: what() })?;
        let (find, _launch) = (context.acl().binary_function()?, context.acl().launch()?);
        let _current = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a live binary and a string with its end; writes one handle.
        let status = unsafe { find(self.loaded.raw, symbol.as_ptr(), &raw mut raw) };
        context.check(status).map_err(|error| error.doing(&what()))?;
        Ok(Function { loaded: self.loaded.clone(), raw })
    }
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "binary {} of {}", self.loaded.name, self.loaded.context.device())
    }
}

/// An argument that is the address of others: the runtime copies all arguments to the device, and puts at `address_offset` where
/// the byte at `data_offset` of them lies there. This is how a kernel gets its tiling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placeholder {
    /// Where the address goes, in bytes from the first argument: 8 bytes.
    pub address_offset: u32,
    /// What it is the address of, in bytes from the first argument.
    pub data_offset: u32,
}

/// A kernel, ready to be launched. Holds the binary, and with it the context.
#[derive(Clone)]
pub struct Function {
    loaded: Arc<Loaded>,
    raw: Handle,
}

// SAFETY: a function may be launched from any thread; the runtime has its own locks.
unsafe impl Send for Function {}
// SAFETY: as for Send.
unsafe impl Sync for Function {}

impl Function {
    /// Launches `blocks` blocks, a core each, with `arguments`, a plain struct that holds the kernel's arguments in their order and
    /// behind them what a placeholder points to. The runtime copies it before it returns; a launch of no block is none.
    ///
    /// # Errors
    /// [`LaunchError`] of the runtime, or for a stream of another device.
    ///
    /// # Safety
    /// - `A` is laid out as the kernel's arguments, without padding that the kernel reads.
    /// - What they point to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub unsafe fn launch<A: Copy>(
        &self,
        blocks: u32,
        arguments: &A,
        placeholder: Option<Placeholder>,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let context = &self.loaded.context;
        let state = |what: String| DeviceError::State { device: context.device(), what };
        if stream.device() != context.device() {
            return Err(state(format!("the plan is for this device and the stream is of {}", stream.device())).into());
        }
        if blocks == 0 {
            return Ok(());
        }
        let (mut infos, mut count) = ([PlaceholderInfo { address_offset: 0, data_offset: 0 }], 0);
        if let Some(Placeholder { address_offset, data_offset }) = placeholder {
            if address_offset as usize + 8 > size_of::<A>() || data_offset as usize >= size_of::<A>() {
                let bytes = size_of::<A>();
                return Err(state(format!("a placeholder {address_offset} -> {data_offset} in {bytes} bytes")).into());
            }
            (infos, count) = ([PlaceholderInfo { address_offset, data_offset }], 1);
        }
        // The runtime's argument is not const, and the caller's must not change.
        let mut arguments = *arguments;
        let launch = context.acl().launch().map_err(DeviceError::from)?;
        let _current = context.enter()?;
        // SAFETY: arguments and placeholders are alive during the call, which copies them; they are laid out as the kernel's by the
        // caller's clause; function and stream are alive.
        let status = unsafe {
            launch(
                self.raw,
                blocks,
                stream.raw(),
                std::ptr::null_mut(),
                (&raw mut arguments).cast(),
                size_of::<A>(),
                infos.as_mut_ptr(),
                count,
            )
        };
        Ok(context.check(status)?)
    }
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kernel {:p} of the binary {}", self.raw, self.loaded.name)
    }
}
