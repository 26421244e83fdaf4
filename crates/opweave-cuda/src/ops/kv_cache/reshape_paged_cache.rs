// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `reshape_paged_cache` on NVIDIA GPUs.

use opweave_contract::Operator;
use opweave_contract::ops::kv_cache::{
    CacheFormat, CacheLayout, ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem,
};
use opweave_device::{DeviceError, LaunchError, StreamRef, operation_code};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::RawTensor;

use crate::native::{LoadedImage, Native};

/// The twin of `PagedSide` in `kernels-cuda/include/opweave/paged_cache_params.cuh`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PagedSide {
    rows: *const u8,
    scale: *const u8,
    cache: *mut u8,
    row_stride: i64,
    head_stride: i64,
    page_stride: i64,
    width: u32,
    reserved: u32,
}

/// The twin of `PagedCacheParams` there.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PagedCacheParams {
    slots: *const u8,
    keys: PagedSide,
    values: PagedSide,
    faults: *mut u8,
    tokens: i64,
    capacity: i64,
    heads: u32,
    page_size: u32,
    operation: u32,
    flags: u32,
}

const _: () = assert!(size_of::<PagedCacheParams>() == 160);

/// Bits of [`PagedCacheParams::flags`].
const SLOT_64: u32 = 1 << 0;
const HEADS_FIRST: u32 = 1 << 1;
const SCALE_OF_HEAD: u32 = 1 << 2;

/// Lanes of a warp.
const WARP: u64 = 32;
/// Threads of a block at most.
const MAX_BLOCK: u64 = 256;

impl PagedSide {
    #[inline]
    fn new(rows: &RawTensor, scale: Option<&RawTensor>, cache: &RawTensor, width: usize) -> Self {
        PagedSide {
            rows: rows.data().cast_const(),
            scale: scale.map_or(std::ptr::null(), |scale| scale.data().cast_const()),
            cache: cache.data(),
            row_stride: rows.stride(0) as i64,
            head_stride: rows.stride(1) as i64,
            page_stride: cache.stride(0) as i64,
            width: width as u32,
            reserved: 0,
        }
    }

    /// Whether accesses of `elements` elements are possible, which are 16 bytes of rows and `cache_bytes` of the cache.
    #[inline]
    fn is_vector(&self, elements: i64, cache_bytes: usize) -> bool {
        let strides = i64::from(self.width) | self.row_stride | self.head_stride | self.page_stride;
        (self.rows as usize).is_multiple_of(16)
            && (self.cache as usize).is_multiple_of(cache_bytes)
            && strides & (elements - 1) == 0
    }
}

/// The entries for one dtype and format, found and ready.
#[derive(Debug)]
pub(crate) struct Kernels {
    vectors: Launch,
    any: Launch,
    operation: u32,
}

impl Native for ReshapePagedCache {
    const STEM: &'static str = "reshape_paged_cache";
    type Prepared = Kernels;

    fn prepare(problem: &ReshapePagedCacheProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        let [vectors, any] =
            if problem.cache_format == CacheFormat::Plain { ["v", "any"] } else { ["v_f8e4m3", "any_f8e4m3"] };
        Ok(Kernels {
            vectors: image.launch(problem.dtype, vectors)?,
            any: image.launch(problem.dtype, any)?,
            operation: operation_code(Self::NAME),
        })
    }

    #[inline]
    unsafe fn launch(
        problem: &ReshapePagedCacheProblem,
        args: &ReshapePagedCacheArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let (tokens, heads) = (args.slot_mapping.dim(0) as u64, problem.num_kv_heads);
        if tokens == 0 {
            return Ok(());
        }
        let keys = PagedSide::new(&args.k, args.k_scale.as_ref(), &args.k_cache, problem.head_dim);
        let values = PagedSide::new(&args.v, args.v_scale.as_ref(), &args.v_cache, problem.head_dim_v);
        let call = PagedCacheParams {
            slots: args.slot_mapping.data().cast_const(),
            keys,
            values,
            faults: stream.fault_pointer(),
            tokens: tokens as i64,
            capacity: (args.k_cache.dim(0) * problem.page_size) as i64,
            heads: heads as u32,
            page_size: problem.page_size as u32,
            operation: kernels.operation,
            flags: if problem.slot_dtype.bits() == 64 { SLOT_64 } else { 0 }
                | if problem.layout == CacheLayout::Hnd { HEADS_FIRST } else { 0 }
                | if problem.cache_format == CacheFormat::F8PerHead { SCALE_OF_HEAD } else { 0 },
        };
        let elements = 128 / problem.dtype.bits();
        let cache_bytes = elements * problem.cache_format.dtype(problem.dtype).bits() / 8;
        let vector = [keys, values].iter().all(|side| side.is_vector(elements as i64, cache_bytes));
        let (launch, each) = if vector { (&kernels.vectors, elements) } else { (&kernels.any, 1) };
        let most = problem.head_dim.max(problem.head_dim_v);
        let [x, y] = block((most / each) as u64, heads as u64);
        let grid = Grid { blocks: tokens.min(i32::MAX as u64) as u32, block: [x as u32, y as u32], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clauses for what they point to, of which the check
        // made shapes, dtypes and overlap those that the kernel needs.
        unsafe { launch.run(grid, &call, stream) }
    }
}

/// The block of a token: threads along the `packs` accesses of a head, a power of two up to a warp, and along its heads, whole
/// warps together.
#[inline]
fn block(packs: u64, heads: u64) -> [u64; 2] {
    let x = packs.next_power_of_two().min(WARP);
    [x, heads.next_multiple_of(WARP / x).min(MAX_BLOCK / x)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_warps() {
        for packs in 1..200 {
            for heads in [1, 2, 3, 8, 32, 100, 65_536] {
                let [x, y] = block(packs, heads);
                assert!((x * y).is_multiple_of(WARP) && x * y <= MAX_BLOCK && x * y > 0, "{packs} {heads}: {x} x {y}");
                // No more threads than there is work, but for the last warp.
                assert!(x < 2 * packs && y < heads + WARP / x, "{packs} {heads}: {x} x {y}");
            }
        }
        assert_eq!(block(16, 8), [16, 8]);
        assert_eq!(block(12, 32), [16, 16]);
        assert_eq!(block(1, 3), [1, 32]);
    }
}
