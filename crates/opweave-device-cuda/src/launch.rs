// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launches.

use std::ffi::c_void;

use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::Function;
use crate::driver::{LaunchAttribute, LaunchConfig};

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const DEPENDENT_LAUNCH: u32 = 6;

/// The attribute that lets a launch begin while the one before it is finishing.
const DEPENDENT: LaunchAttribute = {
    let mut value = [0; 16];
    value[0] = 1;
    LaunchAttribute { id: DEPENDENT_LAUNCH, padding: 0, value }
};

/// The shape of a launch. All but the number of blocks is decided when a plan is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Blocks along x; a launch of none is none.
    pub blocks: u32,
    /// Threads of a block, along x and y.
    pub block: [u32; 2],
    /// Bytes of dynamic shared memory of a block.
    pub shared_memory: u32,
}

/// A kernel with its attributes: everything but arguments and the number of blocks.
#[derive(Clone, Debug)]
pub struct Launch {
    function: Function,
    /// Whether the kernel may start while the one before it on the stream is finishing. It waits for it by itself.
    dependent: bool,
}

impl Launch {
    /// `dependent`: with programmatic dependent launch, which takes a kernel whose every block executes the wait.
    pub fn new(function: Function, dependent: bool) -> Self {
        Launch { function, dependent }
    }

    /// Launches with one argument, a plain struct that the kernel takes by value.
    ///
    /// # Errors
    /// [`LaunchError`] of the driver, or for a stream of another device.
    ///
    /// # Safety
    /// - `P` is laid out as the kernel's only parameter.
    /// - What it points to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub unsafe fn run<P: Copy>(&self, grid: Grid, parameters: &P, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let context = &self.function.context;
        if stream.device() != context.device() {
            let what = format!("the plan is for this device and the stream is of {}", stream.device());
            return Err(DeviceError::State { device: context.device(), what }.into());
        }
        if grid.blocks == 0 {
            return Ok(());
        }
        let mut attribute = DEPENDENT;
        let config = LaunchConfig {
            grid: [grid.blocks, 1, 1],
            block: [grid.block[0], grid.block[1], 1],
            shared_memory: grid.shared_memory,
            stream: stream.raw(),
            attributes: &raw mut attribute,
            attribute_count: u32::from(self.dependent),
        };
        let mut pointers: [*mut c_void; 1] = [(&raw const *parameters).cast_mut().cast()];
        let _current = context.enter()?;
        let launch = context.driver().launch;
        // SAFETY: config, attributes and parameters are alive during the call, which copies them; the parameters are laid out
        // as the kernel's by the caller's clause; function and stream are alive.
        let status =
            unsafe { launch(&raw const config, self.function.raw, pointers.as_mut_ptr(), std::ptr::null_mut()) };
        Ok(context.check(status)?)
    }
}

/// One launch with everything about it prepared beforehand: what any call costs at least. For measurements.
pub struct BareLaunch<P> {
    driver: &'static crate::Driver,
    function: crate::driver::Opaque,
    config: LaunchConfig,
    attributes: Box<[LaunchAttribute; 1]>,
    parameters: Box<P>,
}

impl<P: Copy> BareLaunch<P> {
    /// Prepares a launch of the kernel behind `launch`, which is dependent if that is.
    pub fn new(launch: &Launch, grid: Grid, parameters: P, stream: StreamRef<'_>) -> Self {
        let mut attributes = Box::new([DEPENDENT]);
        let config = LaunchConfig {
            grid: [grid.blocks, 1, 1],
            block: [grid.block[0], grid.block[1], 1],
            shared_memory: grid.shared_memory,
            stream: stream.raw(),
            attributes: attributes.as_mut_ptr(),
            attribute_count: u32::from(launch.dependent),
        };
        let driver = launch.function.context.driver();
        BareLaunch { driver, function: launch.function.raw, config, attributes, parameters: Box::new(parameters) }
    }

    /// Launches it; the driver's status.
    ///
    /// # Safety
    /// - As [`Launch::run`]; the stream and the kernel's context are alive, and the context is current on this thread.
    #[inline]
    pub unsafe fn run(&mut self) -> i32 {
        // The boxes do not move, and the driver writes neither of them.
        debug_assert!(std::ptr::eq(self.config.attributes, self.attributes.as_ptr()));
        let mut pointers: [*mut c_void; 1] = [(&raw mut *self.parameters).cast()];
        // SAFETY: the caller's clauses; config, attributes and parameters are ours.
        unsafe {
            (self.driver.launch)(&raw const self.config, self.function, pointers.as_mut_ptr(), std::ptr::null_mut())
        }
    }
}
