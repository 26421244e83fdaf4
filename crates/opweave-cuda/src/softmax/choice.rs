// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Who shares a row: lanes of a warp, a block, the blocks of a cluster, or a block that reads it twice.
//!
//! The rules of `kernels-cuda/README.md`. Kernels sum a row by chunks whose bounds depend on its width, in an order that
//! depends on their number, so the choice may depend on the number of rows without changing a bit of the result.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::{DType, RawTensor};

use super::{SoftmaxParams, parameters};
use crate::native::LoadedImage;

/// Lanes of a warp.
const WARP: u64 = 32;
/// Vectors of a chunk.
const CHUNK: u64 = 128;
/// Warps of a block at most.
const WARPS: u64 = 16;
/// Rows of a block where a warp has one.
const ROWS: u64 = 4;
/// Chunks in a block below which a row is not cut further for want of rows.
const FEW_CHUNKS: u64 = 4;

/// An entry of the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    /// A warp for each row, with 1 or 4 vectors in each lane.
    Warp1,
    Warp4,
    /// A cluster for each row, with 1 or 2 chunks in each warp.
    Cluster1,
    Cluster2,
    /// A block for each row, which is read twice.
    Loop,
}

/// A launch without its number of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shape {
    entry: Entry,
    block: [u64; 2],
    cluster: u64,
}

/// The entries of a kernel for one dtype, found and ready.
#[derive(Debug)]
pub(crate) struct Kernels {
    warp1: Launch,
    warp4: Launch,
    cluster1: Launch,
    cluster2: Launch,
    any: Launch,
    device: Device,
    bytes: u64,
    out_bytes: u64,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
struct Device {
    multiprocessors: u64,
    cache: u64,
    /// Blocks of a cluster at most.
    cluster: u64,
}

impl Kernels {
    /// Finds the entries for rows of `dtype`, with results of `out_dtype`.
    pub(crate) fn find(image: &LoadedImage<'_>, dtype: DType, out_dtype: DType) -> Result<Self, DeviceError> {
        let (cluster1, cluster2) = (image.launch(dtype, "c1")?, image.launch(dtype, "c2")?);
        let cluster =
            image.largest_cluster(&cluster1, WARPS * WARP)?.min(image.largest_cluster(&cluster2, WARPS * WARP)?);
        Ok(Kernels {
            warp1: image.launch(dtype, "w1")?,
            warp4: image.launch(dtype, "w4")?,
            cluster1,
            cluster2,
            any: image.launch(dtype, "loop")?,
            device: Device { multiprocessors: image.multiprocessors(), cache: image.cache(), cluster },
            bytes: (dtype.bits() / 8) as u64,
            out_bytes: (out_dtype.bits() / 8) as u64,
        })
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - The views are valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch(
        &self,
        input: &RawTensor,
        out: &RawTensor,
        temperature: f32,
        logarithm: bool,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let mut call = SoftmaxParams::new(input, out, temperature, logarithm);
        let (rows, width) = (call.rows.unsigned_abs(), call.width.unsigned_abs());
        if rows == 0 {
            return Ok(());
        }
        // Only the loop multiplies twice.
        let vector = call.is_vector(self.bytes as i64, self.out_bytes as i64) && call.first == 1.0;
        let shape = if vector {
            call.flags |= parameters::VECTOR;
            self.device.share(rows, width * self.bytes / 16)
        } else {
            looped(width)
        };
        if rows.saturating_mul(width * self.out_bytes) > self.device.cache {
            call.flags |= parameters::STREAM;
        }
        let launch = match shape.entry {
            Entry::Warp1 => &self.warp1,
            Entry::Warp4 => &self.warp4,
            Entry::Cluster1 => &self.cluster1,
            Entry::Cluster2 => &self.cluster2,
            Entry::Loop => &self.any,
        };
        let [x, y] = shape.block;
        let sets = rows.div_ceil(y).min(i32::MAX as u64 / shape.cluster);
        let grid = Grid { blocks: (sets * shape.cluster) as u32, block: [x as u32, y as u32], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to; the cluster is one
        // that the device said it can run.
        unsafe { launch.run_in_clusters(grid, shape.cluster as u32, &call, stream) }
    }
}

/// The loop over `packs` packs.
#[inline]
fn looped(packs: u64) -> Shape {
    Shape { entry: Entry::Loop, block: [packs.div_ceil(CHUNK).min(WARPS) * WARP, 1], cluster: 1 }
}

impl Device {
    /// Who shares a row of `vectors` vectors where there are `rows` of them.
    #[inline]
    fn share(self, rows: u64, vectors: u64) -> Shape {
        if vectors <= WARP {
            return Shape { entry: Entry::Warp1, block: [WARP, ROWS], cluster: 1 };
        }
        if vectors <= CHUNK {
            return Shape { entry: Entry::Warp4, block: [WARP, ROWS], cluster: 1 };
        }
        let chunks = vectors.div_ceil(CHUNK);
        // The fewest blocks that hold a row.
        let least = |each: u64| chunks.div_ceil(each * WARPS).next_power_of_two();
        let of = |entry: Entry, each: u64, cluster: u64| {
            let warps = chunks.div_ceil(each * cluster);
            Shape { entry, block: [warps * WARP, 1], cluster }
        };
        let (one, two) = (least(1), least(2));
        if two > self.cluster {
            return looped(vectors);
        }
        // Two chunks in a warp: fewer blocks to wait for each other, as long as there are blocks for all.
        let many = one > 1 && rows.saturating_mul(two) >= self.multiprocessors;
        if many || one > self.cluster {
            return of(Entry::Cluster2, 2, two);
        }
        let mut cluster = one;
        while cluster < self.cluster
            && rows.saturating_mul(cluster) < self.multiprocessors
            && chunks.div_ceil(cluster) > FEW_CHUNKS
        {
            cluster *= 2;
        }
        of(Entry::Cluster1, 1, cluster)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Device = Device { multiprocessors: 132, cache: 60 << 20, cluster: 16 };

    fn capacity(Shape { entry, block: [x, _], cluster }: Shape) -> u64 {
        match entry {
            Entry::Warp1 => WARP,
            Entry::Warp4 => CHUNK,
            Entry::Cluster1 => x / WARP * cluster * CHUNK,
            Entry::Cluster2 => x / WARP * cluster * CHUNK * 2,
            Entry::Loop => u64::MAX,
        }
    }

    #[test]
    fn a_row_fits_whoever_shares_it() {
        for cluster in [1, 2, 4, 8, 16] {
            let device = Device { cluster, ..H200 };
            for rows in [1, 2, 64, 512, 1 << 24] {
                for vectors in (1..3000).chain([16_032, 32_064, 65_535, 65_536]) {
                    let shape = device.share(rows, vectors);
                    assert!(capacity(shape) >= vectors, "{rows} {vectors} {shape:?}");
                    assert!(shape.cluster <= cluster && shape.cluster.is_power_of_two(), "{rows} {vectors} {shape:?}");
                    let [x, y] = shape.block;
                    assert!((x * y).is_multiple_of(WARP) && x * y <= WARPS * WARP && x * y > 0);
                    // No row that a kernel could hold is read twice.
                    assert_eq!(shape.entry == Entry::Loop, vectors > cluster * WARPS * CHUNK * 2);
                }
            }
        }
    }

    #[test]
    fn few_rows_are_spread_and_many_are_not() {
        let of = |rows, vectors| {
            let Shape { entry, block: [x, _], cluster } = H200.share(rows, vectors);
            (entry, x / WARP, cluster)
        };
        let vocabulary = 128_256 / 8;
        assert_eq!(of(1, vocabulary), (Entry::Cluster1, 8, 16));
        assert_eq!(of(64, vocabulary), (Entry::Cluster2, 16, 4));
        assert_eq!(of(512, vocabulary), (Entry::Cluster2, 16, 4));
        assert_eq!(of(16, 32_000 / 8), (Entry::Cluster1, 4, 8));
        assert_eq!(of(1024, 32_000 / 8), (Entry::Cluster2, 16, 1));
        assert_eq!(of(4096, 16), (Entry::Warp1, 1, 1));
    }
}
