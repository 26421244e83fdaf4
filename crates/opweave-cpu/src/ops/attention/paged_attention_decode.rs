// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `paged_attention_decode` on the CPU.

use opweave_contract::ops::attention::{
    LseBase, PageTable, PagedAttentionDecode, PagedAttentionDecodeArgs, PagedAttentionDecodeProblem,
};
use opweave_contract::ops::kv_cache::CacheFormat;
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;
use opweave_registry::{Region, Regions, Workspace};

use super::{activations, blocks, lists, logarithms, plane, sinks};
use crate::attention::{Call, Heads, Keys, Scoring, Table, decode, scratch_bytes};
use crate::memory::CACHE_LINE;
use crate::native::Native;
use crate::simd::Isa;

fn heads(problem: &PagedAttentionDecodeProblem) -> Heads {
    Heads {
        queries: problem.num_heads,
        keys: problem.num_kv_heads,
        width: problem.head_dim,
        width_v: problem.head_dim_v,
    }
}

fn scoring(problem: &PagedAttentionDecodeProblem, args: &PagedAttentionDecodeArgs) -> Scoring {
    Scoring {
        scale: Scoring::scale(problem.score_scale, problem.head_dim, args.softmax_scale),
        cap: problem.soft_capped.then_some(args.soft_cap),
        window: problem.sliding_window.map(|window| window.get()),
        causal: true,
        base: problem.lse_base.unwrap_or(LseBase::E),
    }
}

fn keys(problem: &PagedAttentionDecodeProblem, args: &PagedAttentionDecodeArgs) -> Keys {
    let table = match (&args.block_tables, &args.seq_lens, &args.kv_indptr, &args.kv_indices, &args.last_page_len) {
        (Some(pages), Some(lens), ..) => blocks(pages, lens),
        (_, _, Some(indptr), Some(pages), Some(last)) => lists(indptr, pages, last),
        _ => unreachable!("the check admits no call without its page table"),
    };
    Keys {
        k: plane(&args.k_cache, problem.layout, args.k_scale.as_ref()),
        v: plane(&args.v_cache, problem.layout, args.v_scale.as_ref()),
        page_size: problem.page_size,
        pages: args.k_cache.dim(0),
        table,
        scale_per_head: problem.cache_format == CacheFormat::F8PerHead,
    }
}

impl Native for PagedAttentionDecode {
    fn workspace(problem: &PagedAttentionDecodeProblem) -> Regions {
        let bound = |dim| problem.bounds.get(dim);
        let pages = match problem.page_table {
            PageTable::BlockTables => bound(0).zip(bound(1)).map(|(sequences, pages)| sequences.saturating_mul(pages)),
            PageTable::Indptr => bound(2),
        };
        // Without bounds nothing is cut, which costs time where there are few sequences, and nothing else.
        let bytes = bound(0).zip(pages).map_or(0, |(sequences, pages)| {
            scratch_bytes(&heads(problem), sequences, pages.saturating_mul(problem.page_size))
        });
        Regions { scratch: Region::new(bytes, CACHE_LINE), ..Regions::default() }
    }

    unsafe fn scan(problem: &PagedAttentionDecodeProblem, args: &PagedAttentionDecodeArgs) -> Option<FaultAt> {
        let (keys, scoring) = (keys(problem, args), scoring(problem, args));
        let fault = |b: usize| {
            // SAFETY: the caller's clause: the tables are valid to read, and `b` is one of their sequences.
            unsafe {
                let Some(sequence) = keys.sequence(b) else { return Some(0) };
                (!keys.has_pages(sequence, scoring.seen(sequence.keys, 0))).then_some(1)
            }
        };
        let first = |b: usize| Some(FaultAt { clause: fault(b)?, row: b as u64 });
        (0..args.q.dim(0)).find_map(first)
    }

    unsafe fn run_in(
        problem: &PagedAttentionDecodeProblem,
        args: &PagedAttentionDecodeArgs,
        workspace: Workspace,
        isa: Isa,
        pool: &dyn Parallel,
    ) {
        debug_assert!(matches!(keys(problem, args).table, Table::Blocks { .. } | Table::Lists { .. }));
        let call = Call {
            q: activations(&args.q),
            keys: keys(problem, args),
            out: activations(&args.out),
            lse: args.lse.as_ref().map(logarithms),
            sinks: args.sinks.as_ref().map(sinks),
            heads: heads(problem),
            scoring: scoring(problem, args),
            dtype: problem.dtype,
            codes: problem.cache_format != CacheFormat::Plain,
        };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { decode(isa, pool, &call, args.q.dim(0), workspace.scratch) }
    }

    unsafe fn run(
        problem: &PagedAttentionDecodeProblem,
        args: &PagedAttentionDecodeArgs,
        isa: Isa,
        pool: &dyn Parallel,
    ) {
        // SAFETY: the caller's clauses; no workspace is enough for any call.
        unsafe { Self::run_in(problem, args, Workspace::NONE, isa, pool) }
    }
}
