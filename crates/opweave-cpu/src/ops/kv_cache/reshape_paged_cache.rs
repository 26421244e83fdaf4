// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `reshape_paged_cache` on the CPU.

use opweave_contract::ops::kv_cache::{
    CacheFormat, CacheLayout, ReshapePagedCache, ReshapePagedCacheArgs, ReshapePagedCacheProblem,
};
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;
use opweave_tensor::RawTensor;

use crate::indices::Indices;
use crate::kv_cache::{Paged, ScatterCall, scatter};
use crate::native::Native;
use crate::simd::Isa;

impl Native for ReshapePagedCache {
    unsafe fn scan(problem: &ReshapePagedCacheProblem, args: &ReshapePagedCacheArgs) -> Option<FaultAt> {
        let capacity = args.k_cache.dim(0) * problem.page_size;
        // SAFETY: the caller's clause: the slots are valid to read.
        let row = unsafe { Indices::of(&args.slot_mapping).first_outside(capacity, Some(-1)) }?;
        Some(FaultAt { clause: 0, row: row as u64 })
    }

    unsafe fn run(problem: &ReshapePagedCacheProblem, args: &ReshapePagedCacheArgs, isa: Isa, pool: &dyn Parallel) {
        let paged = |rows: &RawTensor, pages: &RawTensor, scales: Option<&RawTensor>| Paged {
            source: rows.data(),
            token_stride: rows.stride(0),
            head_stride: rows.stride(1),
            width: rows.dim(2),
            pages: pages.data(),
            page_stride: pages.stride(0),
            scales: scales.map(|s| s.data().cast_const().cast()),
        };
        let call = ScatterCall {
            slots: Indices::of(&args.slot_mapping),
            tensors: [
                paged(&args.k, &args.k_cache, args.k_scale.as_ref()),
                paged(&args.v, &args.v_cache, args.v_scale.as_ref()),
            ],
            heads: problem.num_kv_heads,
            page_size: problem.page_size,
            pages: args.k_cache.dim(0),
            heads_outside: problem.layout == CacheLayout::Hnd,
            dtype: problem.dtype,
            codes: problem.cache_format != CacheFormat::Plain,
            scale_per_head: problem.cache_format == CacheFormat::F8PerHead,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { scatter(isa, pool, &call) }
    }
}
