// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The best own kernels for moving bytes and for arithmetic, with nothing else to do.

use opweave_device::{DeviceError, Instruments, LaunchError, StreamRef};
use opweave_device_cuda::{CudaDevice, Grid, Launch, Module};
use opweave_tensor::DeviceId;

/// The stem of the image.
const STEM: &str = "ceilings";
/// Threads of a block, vectors that each of them has on its way, and bytes of a vector: as in the kernels.
const THREADS: u32 = 512;
const IN_FLIGHT: u64 = 4;
const VECTOR: u64 = 16;
/// Blocks of 512 threads on a multiprocessor.
const RESIDENT: u32 = 4;
/// Floating-point operations of a thread in a round.
const OPERATIONS: u64 = 16;

/// The twin of `CeilingParams` in `kernels-cuda/instruments/ceilings.cu`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct CeilingParams {
    source: *const u8,
    target: *mut u8,
    vectors: i64,
    rounds: i64,
}

const _: () = assert!(size_of::<CeilingParams>() == 32);

/// A GPU's instruments.
#[derive(Debug)]
pub struct CudaInstruments {
    copy: Launch,
    read: Launch,
    multiply_add: Launch,
    multiprocessors: u32,
    last_level: Option<u64>,
}

impl CudaInstruments {
    /// The instruments of an open device.
    ///
    /// # Errors
    /// [`DeviceError`]: no image, or what the driver says.
    pub fn new(device: &CudaDevice) -> Result<Self, DeviceError> {
        let context = device.context();
        let id: DeviceId = context.device();
        let found = opweave_kernels_cuda::images().and_then(|images| images.image(STEM));
        let image = found.map_err(|e| DeviceError::State { device: id, what: format!("failed to {e}") })?;
        let module = Module::load(context, STEM, image.bytes())?;
        let launch = |entry: &str| Ok::<_, DeviceError>(Launch::new(module.function(entry)?, false));
        Ok(CudaInstruments {
            copy: launch("opweave_ceilings_f32_copy")?,
            read: launch("opweave_ceilings_f32_read")?,
            multiply_add: launch("opweave_ceilings_f32_multiply_add")?,
            multiprocessors: context.info().multiprocessors.unwrap_or(1),
            last_level: context.level_two_cache(),
        })
    }

    /// Launches a kernel over whole vectors.
    ///
    /// # Safety
    /// - The clauses of the instrument that is launched.
    unsafe fn over(
        &self,
        launch: &Launch,
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let vectors = bytes as u64 / VECTOR;
        let blocks = vectors.div_ceil(u64::from(THREADS) * IN_FLIGHT);
        let blocks = u32::try_from(blocks).map_err(|_| LaunchError::Refused(format!("{bytes} bytes are too many")))?;
        let parameters = CeilingParams { source, target, vectors: vectors as i64, rounds: 0 };
        let grid = Grid { blocks, block: [THREADS, 1], shared_memory: 0, cluster: 1 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clauses.
        unsafe { launch.run(grid, &parameters, stream) }
    }
}

impl Instruments for CudaInstruments {
    unsafe fn copy(
        &self,
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        // SAFETY: the caller's clauses are the same.
        unsafe { self.over(&self.copy, source, target, bytes, stream) }
    }

    unsafe fn read(&self, source: *const u8, bytes: usize, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the caller's clauses are the same; the kernel writes nothing for a size that fits memory.
        unsafe { self.over(&self.read, source, std::ptr::null_mut(), bytes, stream) }
    }

    fn multiply_add(&self, rounds: u64, stream: StreamRef<'_>) -> Result<u64, LaunchError> {
        let blocks = self.multiprocessors * RESIDENT;
        let rounds_of_each = i64::try_from(rounds).unwrap_or(i64::MAX);
        let parameters = CeilingParams {
            source: std::ptr::null(),
            target: std::ptr::null_mut(),
            vectors: 0,
            rounds: rounds_of_each,
        };
        let grid = Grid { blocks, block: [THREADS, 1], shared_memory: 0, cluster: 1 };
        // SAFETY: the parameters are the twin of the kernel's, which touches no memory for a number of rounds that is not
        // negative.
        unsafe { self.multiply_add.run(grid, &parameters, stream) }?;
        Ok(rounds.saturating_mul(OPERATIONS * u64::from(THREADS) * u64::from(blocks)))
    }

    fn last_level_cache(&self) -> Option<u64> {
        self.last_level
    }
}
