// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `embedding` on the CPU.

use opweave_contract::ops::embedding::{Embedding, EmbeddingArgs, EmbeddingProblem};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;
use opweave_tensor::RawTensor;

use crate::Rows;
use crate::embedding::{GatherCall, gather};
use crate::indices::Indices;
use crate::native::Native;
use crate::simd::Isa;

impl Native for Embedding {
    unsafe fn scan(problem: &EmbeddingProblem, args: &EmbeddingArgs) -> Option<FaultAt> {
        // SAFETY: the caller's clause: the ids are valid to read.
        let row = unsafe { Indices::of(&args.ids).first_outside(problem.vocab_size, None) }?;
        Some(FaultAt { clause: 0, row: row as u64 })
    }

    unsafe fn run(problem: &EmbeddingProblem, args: &EmbeddingArgs, isa: Isa, pool: &dyn Parallel) {
        let size = problem.dtype.bits() / 8;
        let rows = |view: &RawTensor| Rows { data: view.data(), stride: view.stride(0) * size as isize };
        let call = GatherCall {
            ids: Indices::of(&args.ids),
            first: problem.shard_start,
            rows: problem.shard_end - problem.shard_start,
            row_bytes: problem.hidden_size * size,
            table: rows(&args.table),
            out: rows(&args.out),
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { gather(isa, pool, &call) }
    }
}
