// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Several queries for each sequence.

use opweave_contract::ops::attention::{
    AttentionPrefill, AttentionPrefillProblem, KEYS_OUTSIDE, PAGE_OUTSIDE, QUERIES_OUTSIDE,
};
use opweave_tensor::DType;

use super::pages::{Cache, Listed, Shape, listed, range};
use super::{Scores, first_seen, in_base, row};
use crate::{Arguments, Reference, ReferenceError, round};

/// The keys of each sequence, and the cache that they are in: of rows, each is a page of its own.
fn keys_of<'a>(
    problem: &AttentionPrefillProblem,
    sequences: usize,
    arguments: &'a Arguments,
) -> Result<(Cache<'a>, Vec<Option<Listed>>, usize), ReferenceError> {
    let (heads, widths) = (problem.num_kv_heads, [problem.head_dim, problem.head_dim_v]);
    if let Some(table) = problem.keys.page_table() {
        let shape = Shape { heads, widths, page_size: problem.page_size, layout: problem.layout };
        let cache = Cache::paged(shape, problem.cache_format, arguments)?;
        return Ok((cache, listed(table, problem.page_size, sequences, arguments)?, problem.page_size));
    }
    let rows = arguments.get("k").map_or(0, |k| k.shape[0]);
    let indptr = arguments.exactly("kv_indptr", sequences + 1)?;
    let of = |b| {
        let (first, end) = range(indptr, b, rows)?;
        Some(Listed { keys: end - first, pages: (first..end).map(|row| row as f64).collect() })
    };
    Ok((Cache::ragged(heads, widths, arguments), (0..sequences).map(of).collect(), 1))
}

impl Reference for AttentionPrefill {
    fn reference(problem: &AttentionPrefillProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &AttentionPrefillProblem { num_heads, num_kv_heads, head_dim, head_dim_v, .. } = problem;
        let mut out = arguments.take("out")?;
        let mut lse = problem.lse_base.map(|_| arguments.take("lse")).transpose()?;
        let tokens = out.data.len() / (num_heads * head_dim_v);
        let (scale, cap) = (arguments.scalar("softmax_scale")?, arguments.scalar("soft_cap")?);
        let scores = Scores::new(problem.score_scale, head_dim, problem.soft_capped, scale, cap);
        let window = problem.sliding_window.map(|w| w.get());
        let starts = arguments.get("cu_seqlens_q").map_or(&[][..], |t| &t.data);
        let sequences = starts.len().saturating_sub(1);
        let (cache, sequences_of, page_size) = keys_of(problem, sequences, arguments)?;
        let q = arguments.exactly("q", tokens * num_heads * head_dim)?;
        let sinks = arguments.optional("sinks", num_heads)?;
        // Tokens of no sequence see nothing.
        out.data.fill(0.0);
        if let (Some(lse), Some(base)) = (&mut lse, problem.lse_base) {
            for (at, lse) in lse.data.iter_mut().enumerate() {
                let sink = sinks.map_or(f64::NEG_INFINITY, |sinks| sinks[at % num_heads]);
                *lse = round(DType::F32, in_base(base, sink));
            }
        }
        let mut faults = [(QUERIES_OUTSIDE, Vec::new()), (KEYS_OUTSIDE, Vec::new()), (PAGE_OUTSIDE, Vec::new())];
        for (b, listed) in sequences_of.iter().enumerate() {
            let queries = range(starts, b, tokens);
            faults[0].1.extend(queries.is_none().then_some(b));
            faults[1].1.extend(listed.is_none().then_some(b));
            let (first, end) = queries.unwrap_or((0, 0));
            let keys = listed.as_ref().map_or(0, |listed| listed.keys);
            let mut missing = false;
            for t in first..end {
                let position = keys as i64 - (end - t) as i64;
                let seen_end = if problem.causal { (position + 1).max(0) as usize } else { keys };
                let seen = first_seen(position, window)..seen_end;
                let place = |l: &Listed| seen.clone().map(|j| l.place(j, page_size, cache.pages())).collect::<Vec<_>>();
                let places: Vec<Option<(usize, usize)>> = listed.as_ref().map(place).unwrap_or_default();
                missing |= places.contains(&None);
                for h in 0..num_heads {
                    let head = h / (num_heads / num_kv_heads);
                    let seen: Vec<(&[f64], &[f64])> =
                        places.iter().flatten().map(|&place| cache.at(place, head)).collect();
                    let at = t * num_heads + h;
                    let out = &mut out.data[at * head_dim_v..(at + 1) * head_dim_v];
                    let sink = sinks.map(|sinks| sinks[h]);
                    let total = row(scores, &q[at * head_dim..(at + 1) * head_dim], &seen, sink, out);
                    out.iter_mut().for_each(|value| *value = round(problem.dtype, *value));
                    if let (Some(lse), Some(base)) = (&mut lse, problem.lse_base) {
                        lse.data[at] = round(DType::F32, in_base(base, total));
                    }
                }
            }
            faults[2].1.extend(missing.then_some(b));
        }
        for (clause, sequences) in faults {
            for b in sequences {
                arguments.fault(clause, b)?;
            }
        }
        arguments.put("out", out);
        if let Some(lse) = lse {
            arguments.put("lse", lse);
        }
        Ok(())
    }
}
