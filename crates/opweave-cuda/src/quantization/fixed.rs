// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels that have one scale for all elements: tiles of a row, whatever its width.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::DType;

use super::QuantParams;
use crate::native::LoadedImage;
use crate::rows::RowCall;

/// One entry of an image.
#[derive(Clone, Debug)]
struct Entry {
    launch: Launch,
    packs_per_thread: u64,
    max_block: u64,
}

/// The entries of a kernel for one dtype, from that with the fewest packs in each thread on.
#[derive(Clone, Debug)]
pub(crate) struct FixedKernels {
    entries: Vec<Entry>,
    /// Elements in 16 bytes.
    elements: u64,
    multiprocessors: u64,
    cache: u64,
}

/// Threads of a multiprocessor that are busy with loads, about.
const PLACES: u64 = 1024;
/// Threads of a block where there is little to do, so that it is spread.
const SMALL_BLOCK: u64 = 128;

impl FixedKernels {
    /// Finds the entries for `dtype`.
    pub(crate) fn find(image: &LoadedImage<'_>, dtype: DType) -> Result<Self, DeviceError> {
        let mut entries = Vec::new();
        for variant in &image.description.variants {
            entries.push(Entry {
                launch: image.launch(dtype, &variant.suffix)?,
                packs_per_thread: variant.vectors_per_thread as u64,
                max_block: variant.max_block as u64,
            });
        }
        entries.sort_by_key(|entry| entry.packs_per_thread);
        Ok(FixedKernels {
            entries,
            elements: (128 / dtype.bits()) as u64,
            multiprocessors: image.multiprocessors(),
            cache: image.cache(),
        })
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - What the parameters point to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch(&self, call: QuantParams, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        if call.rows == 0 || call.width == 0 {
            return Ok(());
        }
        let mut call = flat(call);
        let vector = call.is_aligned(self.elements) && (call.rows == 1 || call.is_vector(self.elements));
        let (rows, width) = (call.rows(), call.width());
        call.settle(vector, rows.saturating_mul(width) > self.cache, false);
        let packs = if vector { width.div_ceil(self.elements) } else { width };
        let all = rows.saturating_mul(packs);
        // Several at once where there is more to do than there are threads.
        let many = all > 2 * self.multiprocessors * PLACES;
        let Some(entry) = (if many { self.entries.last() } else { self.entries.first() }) else {
            return Err(LaunchError::Refused("the image has no entry".to_owned()));
        };
        let threads = if many { entry.max_block } else { SMALL_BLOCK.min(entry.max_block) };
        let Some(blocks) = blocks(rows, packs, threads * entry.packs_per_thread) else {
            return Err(LaunchError::Refused(format!("{rows} rows of {width} are more tiles than a grid has blocks")));
        };
        let grid = Grid { blocks, block: [threads as u32, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to.
        unsafe { entry.launch.run(grid, &call, stream) }
    }
}

/// The call with rows without gaps as one.
#[inline]
fn flat(mut call: QuantParams) -> QuantParams {
    if call.input_stride == call.width && call.out_stride == call.width {
        call.width *= call.rows;
        call.rows = 1;
    }
    call
}

/// Blocks for `rows` rows in tiles of `tile` packs; none if there are more than a grid may have.
#[inline]
fn blocks(rows: u64, packs: u64, tile: u64) -> Option<u32> {
    let blocks = rows.checked_mul(packs.div_ceil(tile))?;
    u32::try_from(blocks).ok().filter(|&blocks| blocks <= i32::MAX as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantization::CodeParams;

    fn call(rows: i64, width: i64, input_stride: i64, out_stride: i64) -> QuantParams {
        let null = std::ptr::null_mut();
        let code = CodeParams { scale: null, floor: 0.0, flags: 0 };
        let (input, zero_point) = (null, null);
        let out = null;
        QuantParams {
            input,
            zero_point,
            out,
            faults: null,
            rows,
            width,
            input_stride,
            out_stride,
            code,
            operation: 0,
            flags: 0,
        }
    }

    #[test]
    fn rows_without_gaps_are_one_row() {
        let one = flat(call(3, 5, 5, 5));
        assert_eq!((one.rows, one.width), (1, 15));
        for (input, out) in [(6, 5), (5, 6)] {
            let gaps = flat(call(3, 5, input, out));
            assert_eq!((gaps.rows, gaps.width), (3, 5));
        }
    }

    #[test]
    fn tiles_cover_every_row_and_too_many_are_refused() {
        assert_eq!(blocks(3, 1025, 1024), Some(6));
        assert_eq!(blocks(1, 1, 1024), Some(1));
        assert_eq!(blocks(1 << 30, 1 << 10, 1024), Some(1 << 30));
        assert_eq!(blocks(1 << 31, 1, 1024), None);
        assert_eq!(blocks(u64::MAX, 2048, 1024), None);
    }

    #[test]
    fn whole_vectors_take_aligned_codes_too() {
        let mut one = call(2, 16, 24, 16);
        assert!(one.is_vector(8));
        one.out = std::ptr::without_provenance_mut(4);
        assert!(one.is_vector(4) && !one.is_vector(8));
        one.out_stride = 18;
        assert!(!one.is_vector(4));
    }
}
