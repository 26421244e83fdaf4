// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One query for each sequence against a paged cache.

use opweave_contract::ops::attention::{KEYS_OUTSIDE, PAGE_OUTSIDE, PagedAttentionDecode, PagedAttentionDecodeProblem};
use opweave_tensor::DType;

use super::pages::{Cache, Shape, listed};
use super::{Scores, first_seen, in_base, row};
use crate::{Arguments, Reference, ReferenceError, round};

impl Reference for PagedAttentionDecode {
    fn reference(problem: &PagedAttentionDecodeProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let &PagedAttentionDecodeProblem { num_heads, num_kv_heads, head_dim, head_dim_v, page_size, .. } = problem;
        let mut out = arguments.take("out")?;
        let mut lse = problem.lse_base.map(|_| arguments.take("lse")).transpose()?;
        let sequences = out.data.len() / (num_heads * head_dim_v);
        let (scale, cap) = (arguments.scalar("softmax_scale")?, arguments.scalar("soft_cap")?);
        let scores = Scores::new(problem.score_scale, head_dim, problem.soft_capped, scale, cap);
        let shape = Shape { heads: num_kv_heads, widths: [head_dim, head_dim_v], page_size, layout: problem.layout };
        let cache = Cache::paged(shape, problem.cache_format, arguments)?;
        let sequences_of = listed(problem.page_table, page_size, sequences, arguments)?;
        let q = arguments.exactly("q", sequences * num_heads * head_dim)?;
        let sinks = arguments.optional("sinks", num_heads)?;
        let (mut lengths, mut pages) = (Vec::new(), Vec::new());
        for (b, listed) in sequences_of.iter().enumerate() {
            let keys = listed.as_ref().map_or(0, |listed| listed.keys);
            let first = first_seen(keys as i64 - 1, problem.sliding_window.map(|w| w.get()));
            let places: Vec<Option<(usize, usize)>> =
                listed.iter().flat_map(|l| (first..keys).map(|j| l.place(j, page_size, cache.pages()))).collect();
            lengths.extend(listed.is_none().then_some(b));
            pages.extend(places.contains(&None).then_some(b));
            for h in 0..num_heads {
                let seen = places.iter().flatten().map(|&place| cache.at(place, h / (num_heads / num_kv_heads)));
                let seen: Vec<(&[f64], &[f64])> = seen.collect();
                let at = b * num_heads + h;
                let out = &mut out.data[at * head_dim_v..(at + 1) * head_dim_v];
                let sink = sinks.map(|sinks| sinks[h]);
                let total = row(scores, &q[at * head_dim..(at + 1) * head_dim], &seen, sink, out);
                out.iter_mut().for_each(|value| *value = round(problem.dtype, *value));
                if let (Some(lse), Some(base)) = (&mut lse, problem.lse_base) {
                    lse.data[at] = round(DType::F32, in_base(base, total));
                }
            }
        }
        for (clause, sequences) in [(KEYS_OUTSIDE, lengths), (PAGE_OUTSIDE, pages)] {
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
