// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `attention_prefill` on the CPU.

use opweave_contract::ops::attention::{
    AttentionPrefill, AttentionPrefillArgs, AttentionPrefillProblem, KeySource, LseBase,
};
use opweave_contract::ops::kv_cache::CacheFormat;
use opweave_device::cpu::Parallel;
use opweave_reference::FaultAt;

use super::{activations, blocks, lists, logarithms, plane, rows, sinks};
use crate::attention::{Call, Heads, Keys, Ranges, Scoring, Table, prefill, range};
use crate::indices::Indices;
use crate::native::Native;
use crate::simd::Isa;

fn scoring(problem: &AttentionPrefillProblem, args: &AttentionPrefillArgs) -> Scoring {
    Scoring {
        scale: Scoring::scale(problem.score_scale, problem.head_dim, args.softmax_scale),
        cap: problem.soft_capped.then_some(args.soft_cap),
        window: problem.sliding_window.map(|window| window.get()),
        causal: problem.causal,
        base: problem.lse_base.unwrap_or(LseBase::E),
    }
}

fn keys(problem: &AttentionPrefillProblem, args: &AttentionPrefillArgs) -> Keys {
    let scale_per_head = problem.cache_format == CacheFormat::F8PerHead;
    if let (Some(k), Some(v), Some(indptr)) = (&args.k, &args.v, &args.kv_indptr) {
        let table = Table::Rows { indptr: Indices::of(indptr) };
        return Keys { k: rows(k), v: rows(v), page_size: 1, pages: k.dim(0), table, scale_per_head };
    }
    let table = match (&args.block_tables, &args.seq_lens, &args.kv_indptr, &args.kv_indices, &args.last_page_len) {
        (Some(pages), Some(lens), ..) => blocks(pages, lens),
        (_, _, Some(indptr), Some(pages), Some(last)) => lists(indptr, pages, last),
        _ => unreachable!("the check admits no call without its page table"),
    };
    let (Some(k), Some(v)) = (&args.k_cache, &args.v_cache) else {
        unreachable!("the check admits no call without keys and values")
    };
    Keys {
        k: plane(k, problem.layout, args.k_scale.as_ref()),
        v: plane(v, problem.layout, args.v_scale.as_ref()),
        page_size: problem.page_size,
        pages: k.dim(0),
        table,
        scale_per_head,
    }
}

impl Native for AttentionPrefill {
    unsafe fn scan(problem: &AttentionPrefillProblem, args: &AttentionPrefillArgs) -> Option<FaultAt> {
        let (keys, scoring) = (keys(problem, args), scoring(problem, args));
        let (starts, tokens) = (Indices::of(&args.cu_seqlens_q), args.q.dim(0));
        let fault = |b: usize| {
            // SAFETY: the caller's clause: the tables are valid to read, and `b` is one of their sequences.
            unsafe {
                let Some(queries) = range(starts, b, tokens) else { return Some(0) };
                let Some(sequence) = keys.sequence(b) else { return Some(1) };
                let (first, last) = (queries.len().checked_sub(1)?, 0);
                // The first query sees the first key of all, the last query the last.
                let seen = scoring.seen(sequence.keys, first).start..scoring.seen(sequence.keys, last).end;
                (!keys.has_pages(sequence, seen)).then_some(2)
            }
        };
        let first = |b: usize| Some(FaultAt { clause: fault(b)?, row: b as u64 });
        (0..starts.len - 1).find_map(first)
    }

    unsafe fn run(problem: &AttentionPrefillProblem, args: &AttentionPrefillArgs, isa: Isa, pool: &dyn Parallel) {
        let call = Call {
            q: activations(&args.q),
            keys: keys(problem, args),
            out: activations(&args.out),
            lse: args.lse.as_ref().map(logarithms),
            sinks: args.sinks.as_ref().map(sinks),
            heads: Heads {
                queries: problem.num_heads,
                keys: problem.num_kv_heads,
                width: problem.head_dim,
                width_v: problem.head_dim_v,
            },
            scoring: scoring(problem, args),
            dtype: problem.dtype,
            codes: problem.keys != KeySource::Ragged && problem.cache_format != CacheFormat::Plain,
        };
        let ranges = Ranges { starts: Indices::of(&args.cu_seqlens_q), tokens: args.q.dim(0) };
        // SAFETY: the caller's clauses; the check made shapes, dtypes and overlap those that the call needs.
        unsafe { prefill(isa, pool, &call, ranges) }
    }
}
