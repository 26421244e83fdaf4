// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `argmax` on NVIDIA GPUs.

use opweave_contract::ops::sampling::{Argmax, ArgmaxArgs, ArgmaxProblem, NanOrder};
use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};

use crate::native::{LoadedImage, Native};

/// The twin of `ArgmaxParams` in `kernels-cuda/include/opweave/argmax_params.cuh`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct ArgmaxParams {
    logits: *const u8,
    out: *mut u8,
    rows: i64,
    stride: i64,
    width: u32,
    flags: u32,
}

const _: () = assert!(size_of::<ArgmaxParams>() == 40);

/// Bits of [`ArgmaxParams::flags`].
const NAN_FIRST: u32 = 1 << 0;
const INDEX_64: u32 = 1 << 1;

/// Lanes of a warp.
const WARP: u64 = 32;
/// Threads of a block at most.
const MAX_BLOCK: u64 = 512;
/// Vectors of a block below which a row is not cut further.
const FEW_VECTORS: u64 = 256;

/// The entry, found and ready, and what the choice of blocks depends on.
#[derive(Debug)]
pub(crate) struct Kernel {
    launch: Launch,
    multiprocessors: u64,
    /// Blocks of a cluster at most.
    cluster: u64,
}

impl Native for Argmax {
    const STEM: &'static str = "argmax";
    type Prepared = Kernel;

    fn prepare(problem: &ArgmaxProblem, image: &LoadedImage<'_>) -> Result<Kernel, DeviceError> {
        let launch = image.launch(problem.dtype, "row")?;
        let cluster = image.largest_cluster(&launch, MAX_BLOCK)?;
        Ok(Kernel { launch, multiprocessors: image.multiprocessors(), cluster })
    }

    #[inline]
    unsafe fn launch(
        problem: &ArgmaxProblem,
        args: &ArgmaxArgs,
        kernel: &Kernel,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let rows = args.logits.dim(0) as u64;
        if rows == 0 {
            return Ok(());
        }
        let width = problem.valid_size.unwrap_or(problem.vocab_size);
        let elements = (128 / problem.dtype.bits()) as u64;
        let (cluster, threads) = share(kernel.multiprocessors, kernel.cluster, rows, (width as u64).div_ceil(elements));
        let call = ArgmaxParams {
            logits: args.logits.data().cast_const(),
            out: args.out.data(),
            rows: rows as i64,
            stride: args.logits.stride(0) as i64,
            width: width as u32,
            flags: if problem.nan == NanOrder::First { NAN_FIRST } else { 0 }
                | if problem.index_dtype.bits() == 64 { INDEX_64 } else { 0 },
        };
        let sets = rows.min(i32::MAX as u64 / cluster);
        let grid = Grid { blocks: (sets * cluster) as u32, block: [threads as u32, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clauses for what they point to, of which the check
        // made shapes, dtypes and overlap those that the kernel needs; the cluster is one that the device said it can run.
        unsafe { kernel.launch.run_in_clusters(grid, cluster as u32, &call, stream) }
    }
}

/// Blocks that share a row of `vectors` vectors, and their threads: as many as it takes to give every multiprocessor two,
/// which is what it holds. One in twenty may be idle: to halve all parts would only leave more of them waiting.
#[inline]
fn share(multiprocessors: u64, most: u64, rows: u64, vectors: u64) -> (u64, u64) {
    let mut cluster = 1;
    while cluster < most
        && rows.saturating_mul(cluster * 20) < multiprocessors * 38
        && vectors / (2 * cluster) >= FEW_VECTORS
    {
        cluster *= 2;
    }
    (cluster, vectors.div_ceil(cluster).next_multiple_of(WARP).clamp(WARP, MAX_BLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_until_every_multiprocessor_has_work() {
        let vectors = 128_256 / 8;
        assert_eq!(share(132, 16, 1, vectors), (16, 512));
        assert_eq!(share(132, 16, 64, vectors), (4, 512));
        assert_eq!(share(132, 16, 256, vectors), (1, 512));
        // Without clusters a block does it alone, and short rows are not cut.
        assert_eq!(share(132, 1, 1, vectors), (1, 512));
        assert_eq!(share(132, 16, 1, 40), (1, 64));
        assert_eq!(share(132, 16, 1, 1), (1, 32));
    }
}
