// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `embedding` on NVIDIA GPUs.

use opweave_contract::Operator;
use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem};
use opweave_device::{DeviceError, LaunchError, StreamRef, operation_code};
use opweave_device_cuda::{Grid, Launch};
use opweave_tensor::DType;

use crate::native::{LoadedImage, Native};
use crate::tiles;

/// The twin of `EmbeddingParams` in `kernels-cuda/include/opweave/embedding_params.cuh`: see there for each field.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct EmbeddingParams {
    ids: *const u8,
    table: *const u8,
    out: *mut u8,
    faults: *mut u8,
    tokens: i64,
    table_stride: i64,
    out_stride: i64,
    vocabulary: i64,
    begin: i64,
    end: i64,
    width: u32,
    tiles: u32,
    operation: u32,
    flags: u32,
}

const _: () = assert!(size_of::<EmbeddingParams>() == 96);

/// Bits of [`EmbeddingParams::flags`].
const ID_64: u32 = 1 << 0;
const ID_UNSIGNED: u32 = 1 << 1;
const STREAM: u32 = 1 << 2;

impl EmbeddingParams {
    /// Whether 16-byte accesses are possible: both pointers aligned, width and strides whole vectors of `elements`.
    #[inline]
    fn is_vector(&self, elements: i64) -> bool {
        let strides = i64::from(self.width) | self.table_stride | self.out_stride;
        (self.table as usize | self.out as usize).is_multiple_of(16) && strides & (elements - 1) == 0
    }
}

/// The entries for one dtype, found and ready.
#[derive(Debug)]
pub(crate) struct Kernels {
    one: Launch,
    four: Launch,
    any: Launch,
    multiprocessors: u64,
    cache: u64,
    operation: u32,
}

impl Native for Embedding {
    const STEM: &'static str = "embedding";
    type Prepared = Kernels;

    fn prepare(problem: &EmbeddingProblem, image: &LoadedImage<'_>) -> Result<Kernels, DeviceError> {
        Ok(Kernels {
            one: image.launch(problem.dtype, "v1")?,
            four: image.launch(problem.dtype, "v4")?,
            any: image.launch(problem.dtype, "any")?,
            multiprocessors: image.multiprocessors(),
            cache: image.cache(),
            operation: operation_code(Self::NAME),
        })
    }

    #[inline]
    unsafe fn launch(
        problem: &EmbeddingProblem,
        args: &EmbeddingArgs,
        kernels: &Kernels,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        let (tokens, width) = (args.out.dim(0) as u64, problem.hidden_size as u64);
        if tokens == 0 {
            return Ok(());
        }
        let bytes = (problem.dtype.bits() / 8) as u64;
        let mut call = EmbeddingParams {
            ids: args.ids.data().cast_const(),
            table: args.table.data().cast_const(),
            out: args.out.data(),
            faults: stream.fault_pointer(),
            tokens: tokens as i64,
            table_stride: args.table.stride(0) as i64,
            out_stride: args.out.stride(0) as i64,
            vocabulary: problem.vocab_size as i64,
            begin: problem.shard_start as i64,
            end: problem.shard_end as i64,
            width: width as u32,
            tiles: 1,
            operation: kernels.operation,
            flags: match problem.id_dtype {
                DType::I64 => ID_64,
                DType::U32 => ID_UNSIGNED,
                _ => 0,
            },
        };
        let elements = 16 / bytes;
        let cut = if call.is_vector(elements as i64) {
            tiles::vectors(kernels.multiprocessors, tokens, width / elements, 4)
        } else {
            tiles::elements(width)
        };
        let launch = match (call.is_vector(elements as i64), cut.per_thread) {
            (true, 1) => &kernels.one,
            (true, _) => &kernels.four,
            (false, _) => &kernels.any,
        };
        call.tiles = cut.tiles as u32;
        if tokens.saturating_mul(width * bytes) > kernels.cache {
            call.flags |= STREAM;
        }
        let grid = Grid { blocks: cut.blocks(tokens), block: [cut.threads as u32, 1], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clauses for what they point to, of which the check
        // made shapes, dtypes and overlap those that the kernel needs.
        unsafe { launch.run(grid, &call, stream) }
    }
}
