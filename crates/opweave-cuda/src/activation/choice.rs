// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a call is cut into blocks.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::DType;

use super::{ActivationParams, Halved, parameters};
use crate::native::LoadedImage;
use crate::tiles;

/// The entries of a kernel for one dtype, found and ready.
#[derive(Debug)]
pub(crate) struct Kernels {
    one: Launch,
    two: Launch,
    any: Launch,
    multiprocessors: u64,
    cache: u64,
    bytes: usize,
    width: usize,
}

impl Kernels {
    /// Finds the entries for rows of `width` elements of `dtype`.
    pub(crate) fn find(image: &LoadedImage<'_>, dtype: DType, width: usize) -> Result<Self, DeviceError> {
        Ok(Kernels {
            one: image.launch(dtype, "v1")?,
            two: image.launch(dtype, "v2")?,
            any: image.launch(dtype, "any")?,
            multiprocessors: image.multiprocessors(),
            cache: image.cache(),
            bytes: dtype.bits() / 8,
            width,
        })
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - The views are valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch(&self, call: &Halved<'_>, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let mut call = ActivationParams::new(call, self.width, self.bytes);
        let (rows, width) = (call.rows.unsigned_abs(), self.width as u64);
        if rows == 0 {
            return Ok(());
        }
        let elements = 16 / self.bytes as u64;
        let cut = if call.is_vector(elements as i64) {
            tiles::vectors(self.multiprocessors, rows, width / elements, 2)
        } else {
            tiles::elements(width)
        };
        let launch = match cut.per_thread {
            1 => &self.one,
            2 => &self.two,
            _ => &self.any,
        };
        call.tiles = cut.tiles as u32;
        if rows.saturating_mul(width * self.bytes as u64) > self.cache {
            call.flags |= parameters::STREAM_OUT;
        }
        let grid = Grid { blocks: cut.blocks(rows), block: [cut.threads as u32, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to.
        unsafe { launch.run(grid, &call, stream) }
    }
}
