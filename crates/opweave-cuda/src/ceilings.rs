// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The best own kernels for moving bytes and for arithmetic, with nothing else to do.

use opweave_device::{DeviceError, Instruments, LaunchError, StreamRef};
use opweave_device_cuda::{CudaDevice, Grid, Launch, Module};
use opweave_tensor::DeviceId;

/// The stem of the image.
const STEM: &str = "ceilings";
/// Bytes of a vector.
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

/// A kernel with its block, as its description says.
#[derive(Debug)]
struct Instrument {
    launch: Launch,
    threads: u32,
    /// Vectors that a thread has on its way.
    vectors_per_thread: u64,
}

/// A GPU's instruments.
#[derive(Debug)]
pub struct CudaInstruments {
    copy: Instrument,
    read: Instrument,
    multiply_add: Instrument,
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
        let failed = |what: String| DeviceError::State { device: id, what };
        let image = opweave_kernels_cuda::images().and_then(|images| images.image(STEM));
        let image = image.map_err(|e| failed(format!("failed to {e}")))?;
        let description = opweave_kernels_cuda::description(STEM).map_err(|e| failed(format!("failed to {e}")))?;
        let description = description.ok_or_else(|| failed(format!("{STEM} has no description")))?;
        let module = Module::load(context, STEM, image.bytes())?;
        let instrument = |suffix: &str| {
            let variant = description.variants.iter().find(|variant| variant.suffix == suffix);
            let variant = variant.ok_or_else(|| failed(format!("{STEM} has no variant {suffix}")))?;
            Ok::<_, DeviceError>(Instrument {
                launch: Launch::new(module.function(&description.symbol("f32", suffix))?, false),
                threads: variant.max_block as u32,
                vectors_per_thread: variant.vectors_per_thread as u64,
            })
        };
        Ok(CudaInstruments {
            copy: instrument("copy")?,
            read: instrument("read")?,
            multiply_add: instrument("multiply_add")?,
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
        instrument: &Instrument,
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let vectors = bytes as u64 / VECTOR;
        let blocks = vectors.div_ceil(u64::from(instrument.threads) * instrument.vectors_per_thread);
        let blocks = u32::try_from(blocks).map_err(|_| LaunchError::Refused(format!("{bytes} bytes are too many")))?;
        let parameters = CeilingParams { source, target, vectors: vectors as i64, rounds: 0 };
        let grid = Grid { blocks, block: [instrument.threads, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clauses.
        unsafe { instrument.launch.run(grid, &parameters, stream) }
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
        let Instrument { launch, threads, .. } = &self.multiply_add;
        let grid = Grid { blocks, block: [*threads, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's, which touches no memory for a number of rounds that is not
        // negative.
        unsafe { launch.run(grid, &parameters, stream) }?;
        Ok(rounds.saturating_mul(OPERATIONS * u64::from(*threads) * u64::from(blocks)))
    }

    fn last_level_cache(&self) -> Option<u64> {
        self.last_level
    }
}
