// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launches.

use std::ffi::c_void;

use opweave_device::{DeviceError, LaunchError, StreamRef};

use crate::Function;
use crate::driver::{LaunchAttribute, LaunchConfig, SUCCESS};

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const CLUSTER_DIMENSION: u32 = 4;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const DEPENDENT_LAUNCH: u32 = 6;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const LARGE_CLUSTERS: i32 = 14;
/// Blocks of a cluster at most: 8 everywhere that there are clusters, 16 on devices that take a size that is not portable.
const LARGEST_CLUSTER: u32 = 16;

/// The attribute that lets a launch begin while the one before it is finishing.
const DEPENDENT: LaunchAttribute = {
    let mut value = [0; 16];
    value[0] = 1;
    LaunchAttribute { id: DEPENDENT_LAUNCH, padding: 0, value }
};

/// The attribute that makes clusters of `blocks` blocks along x.
fn clusters_of(blocks: u32) -> LaunchAttribute {
    let mut value = [0; 16];
    value[..3].copy_from_slice(&[blocks, 1, 1]);
    LaunchAttribute { id: CLUSTER_DIMENSION, padding: 0, value }
}

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

    /// The most blocks, a power of two, that the device can run as one cluster of this kernel with `threads` threads each; 1
    /// where it has no clusters. From here on clusters of that size may be launched.
    ///
    /// # Errors
    /// [`DeviceError`] of the driver for the context; a size that it refuses is no error.
    pub fn largest_cluster(&self, threads: u32) -> Result<u32, DeviceError> {
        let context = &self.function.context;
        let (driver, function) = (context.driver(), self.function.raw);
        let _current = context.enter()?;
        // Where the attribute is refused, so are sizes that need it.
        // SAFETY: a live function; sets a number of it.
        unsafe { (driver.function_attribute)(function, LARGE_CLUSTERS, 1) };
        let mut size = LARGEST_CLUSTER;
        while size > 1 {
            let mut attribute = clusters_of(size);
            let config = LaunchConfig {
                grid: [size, 1, 1],
                block: [threads, 1, 1],
                shared_memory: 0,
                stream: std::ptr::null_mut(),
                attributes: &raw mut attribute,
                attribute_count: 1,
            };
            let mut clusters = 0;
            // SAFETY: the configuration and its attribute are alive during the call; writes one integer.
            let status = unsafe { (driver.active_clusters)(&raw mut clusters, function, &raw const config) };
            if status == SUCCESS && clusters > 0 {
                break;
            }
            size /= 2;
        }
        Ok(size)
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
        // SAFETY: the caller's clauses.
        unsafe { self.run_in_clusters(grid, 1, parameters, stream) }
    }

    /// The same in clusters of `cluster` blocks, of which the grid has a whole number: at most
    /// [`largest_cluster`](Launch::largest_cluster).
    ///
    /// # Errors
    /// As [`run`](Launch::run).
    ///
    /// # Safety
    /// - As [`run`](Launch::run).
    #[inline]
    pub unsafe fn run_in_clusters<P: Copy>(
        &self,
        grid: Grid,
        cluster: u32,
        parameters: &P,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let context = &self.function.context;
        if stream.device() != context.device() {
            let what = format!("the plan is for this device and the stream is of {}", stream.device());
            return Err(DeviceError::State { device: context.device(), what }.into());
        }
        if grid.blocks == 0 {
            return Ok(());
        }
        let (dependent, clusters) = (usize::from(self.dependent), usize::from(cluster > 1));
        // Those that do not hold are left out at either end.
        let mut attributes = [DEPENDENT, clusters_of(cluster)];
        let attributes = &mut attributes[1 - dependent..1 + clusters];
        let config = LaunchConfig {
            grid: [grid.blocks, 1, 1],
            block: [grid.block[0], grid.block[1], 1],
            shared_memory: grid.shared_memory,
            stream: stream.raw(),
            attributes: attributes.as_mut_ptr(),
            attribute_count: attributes.len() as u32,
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
