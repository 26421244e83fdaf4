// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a call is cut into blocks. Elements share nothing, so no choice changes a bit of the result.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::DType;

use super::{ActivationParams, Halved, parameters};
use crate::native::LoadedImage;

/// The entries of a kernel for one dtype, found and ready.
#[derive(Debug)]
pub(crate) struct Kernels {
    one: Launch,
    two: Launch,
    any: Launch,
    device: Device,
    bytes: usize,
    width: usize,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
struct Device {
    multiprocessors: u64,
    cache: u64,
}

/// How a row is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cut {
    /// Accesses of each thread.
    per_thread: u64,
    threads: u64,
    /// Blocks along a row.
    tiles: u64,
}

/// Lanes of a warp.
const WARP: u64 = 32;
/// Threads of a block at most.
const MAX_BLOCK: u64 = 512;
/// Threads that a multiprocessor holds, about: below it, more accesses in a thread only leave others idle.
const RESIDENT: u64 = 2048;
/// Elements of each thread in the entry for any width.
const ELEMENTS: u64 = 4;

impl Kernels {
    /// Finds the entries for rows of `width` elements of `dtype`.
    pub(crate) fn find(image: &LoadedImage<'_>, dtype: DType, width: usize) -> Result<Self, DeviceError> {
        Ok(Kernels {
            one: image.launch(dtype, "v1")?,
            two: image.launch(dtype, "v2")?,
            any: image.launch(dtype, "any")?,
            device: Device { multiprocessors: image.multiprocessors(), cache: image.cache() },
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
            self.device.cut(rows, width / elements)
        } else {
            cut(width, ELEMENTS, MAX_BLOCK / 2)
        };
        let launch = match cut.per_thread {
            1 => &self.one,
            2 => &self.two,
            _ => &self.any,
        };
        call.tiles = cut.tiles as u32;
        if rows.saturating_mul(width * self.bytes as u64) > self.device.cache {
            call.flags |= parameters::STREAM_OUT;
        }
        let blocks = rows.saturating_mul(cut.tiles).min(i32::MAX as u64);
        let grid = Grid { blocks: blocks as u32, block: [cut.threads as u32, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to.
        unsafe { launch.run(grid, &call, stream) }
    }
}

impl Device {
    /// The cut of `rows` rows of `vectors` vectors: two in each thread where there is work for all, else one, in blocks so
    /// small that every multiprocessor has some.
    #[inline]
    fn cut(self, rows: u64, vectors: u64) -> Cut {
        let of_each = rows.saturating_mul(vectors) / self.multiprocessors;
        if of_each >= RESIDENT {
            cut(vectors, 2, MAX_BLOCK)
        } else {
            cut(vectors, 1, of_each.next_power_of_two().clamp(2 * WARP, MAX_BLOCK / 2))
        }
    }
}

/// As few tiles of at most `most` threads as a row of `units` takes, all of about the same size.
#[inline]
fn cut(units: u64, per_thread: u64, most: u64) -> Cut {
    let tiles = units.div_ceil(per_thread * most);
    let threads = units.div_ceil(per_thread * tiles).next_multiple_of(WARP);
    Cut { per_thread, threads, tiles: units.div_ceil(per_thread * threads) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Device = Device { multiprocessors: 132, cache: 60 << 20 };

    #[test]
    fn tiles_cover_the_row_and_none_is_empty() {
        for rows in [1, 3, 64, 512, 4096, 1 << 24] {
            for units in (1..3000).chain([1 << 20, (1 << 30) - 1, 1 << 30]) {
                for Cut { per_thread, threads, tiles } in [H200.cut(rows, units), cut(units, ELEMENTS, MAX_BLOCK / 2)] {
                    let tile = per_thread * threads;
                    assert!(tiles * tile >= units && (tiles - 1) * tile < units, "{rows} {units}: {tiles} x {tile}");
                    assert!(threads.is_multiple_of(WARP) && (WARP..=MAX_BLOCK).contains(&threads));
                    // Within a row the kernel counts in 32 bits.
                    assert!(tiles * tile < 1 << 32);
                }
            }
        }
    }

    #[test]
    fn few_rows_reach_many_multiprocessors_and_many_rows_fill_their_blocks() {
        let vectors = 14336 / 8;
        assert_eq!(H200.cut(1, vectors), Cut { per_thread: 1, threads: 64, tiles: 28 });
        assert_eq!(H200.cut(64, vectors), Cut { per_thread: 1, threads: 256, tiles: 7 });
        assert_eq!(H200.cut(4096, vectors), Cut { per_thread: 2, threads: 448, tiles: 2 });
    }
}
