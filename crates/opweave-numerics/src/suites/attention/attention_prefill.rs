// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `attention_prefill`.

use opweave_contract::Operator;
use opweave_contract::ops::attention::{
    AttentionPrefill, AttentionPrefillProblem, KEYS_OUTSIDE, KeySource, PAGE_OUTSIDE, QUERIES_OUTSIDE,
};
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{
    self, ALONE, AROUND_A_PAGE, AROUND_BLOCKS, Batch, CAP, DTYPES, HEAD_DIMS, LONG, MODELS, PAGE, PAIR, SCALE, far,
    heads, with,
};
use crate::compare::Tolerance;
use crate::config::Tier;
use crate::input::{Grade, Spread};
use crate::suite::{Case, Fill, Suite, SuiteArguments};

type Prefill = Case<AttentionPrefill>;

const SOURCES: [&str; 3] = ["ragged", "block_tables", "indptr"];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = AttentionPrefill;

    fn cases(&self, _: &SuiteArguments) -> Vec<Prefill> {
        let mut cases = models();
        cases.extend(combinations());
        cases.extend(edges());
        cases.extend(faults());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Prefill> {
        let sizes = [
            (128, "bf16", "block_tables", Tier::Default),
            (128, "bf16", "ragged", Tier::Default),
            (512, "bf16", "ragged", Tier::Full),
            (512, "f32", "ragged", Tier::Full),
            (512, "bf16", "block_tables", Tier::Full),
            (2048, "bf16", "ragged", Tier::Full),
            (2048, "f32", "ragged", Tier::Full),
        ];
        let timed = |(tokens, dtype, source, tier): (usize, &str, &str, Tier)| {
            let facts = with(heads([32, 8], [128, 128], dtype), &[&format!("keys={source}")]);
            let problem = AttentionPrefill::problem_from(&facts).ok()?;
            let pages = tokens / 16;
            let (starts, dims): (Fill, _) = match tokens {
                128 => (Fill::Cycle(&[0, 128]), [1, tokens, tokens, pages, 0, pages]),
                512 => (Fill::Cycle(&[0, 512]), [1, tokens, tokens, pages, 0, pages]),
                _ => (Fill::Cycle(&[0, 2048]), [1, tokens, tokens, pages, 0, pages]),
            };
            let label = format!("t{tokens}_h32_kv8_d128_{dtype}_{source}");
            let case = Case::new(label, problem, &dims).tier(tier).fill("cu_seqlens_q", starts);
            let case = case.fill("kv_indptr", starts).fill("seq_lens", Fill::Constant(tokens as f64));
            Some(case.fill("block_tables", Fill::Distinct(0, pages as i64 - 1)))
        };
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        with(heads([4, 2], [64, 64], "bf16"), &["page_size=4"])
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Prefill) -> usize {
        let [_, _, rows, each, all, _] = case.dims[..] else { return 1 };
        rows.max(each.max(all) * case.problem.page_size).max(1)
    }

    fn tolerance(&self, case: &Prefill, name: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        let scale = inputs.scalar("softmax_scale").unwrap_or(1.0).abs();
        let sums = [self.accumulation_length(case), case.problem.head_dim];
        common::tolerance(name, dtype, scale.max(0.125), sums, inputs)
    }
}

/// A case of a batch: its keys lie in rows, or in pages anywhere in a cache that has some more.
fn case(label: &str, batch: &Batch, facts: &[String]) -> Option<Prefill> {
    let facts = with(facts.to_vec(), &[&format!("page_size={PAGE}")]);
    let problem: AttentionPrefillProblem = AttentionPrefill::problem_from(&facts).ok()?;
    let (sequences, tokens, each) = (batch.sequences(), batch.tokens(), batch.max_pages());
    let all = sequences * each + 3;
    let places = Fill::Distinct(0, all as i64 - 1);
    let case = |dims: [usize; 6]| {
        let case = Case::new(format!("{label}_{}", batch.name), problem, &dims)
            .fill("cu_seqlens_q", Fill::Cycle(batch.queries));
        // Neither is the default, and each is read by the problems that say so alone.
        case.scalar("softmax_scale", SCALE).scalar("soft_cap", CAP)
    };
    Some(match problem.keys {
        KeySource::Ragged => {
            case([sequences, tokens, batch.keys(), 0, 0, 0]).fill("kv_indptr", Fill::Cycle(batch.rows))
        }
        KeySource::BlockTables => {
            let case = case([sequences, tokens, 0, each, 0, all]).fill("block_tables", places);
            case.fill("seq_lens", Fill::Cycle(batch.lens))
        }
        KeySource::Indptr => {
            let case = case([sequences, tokens, 0, 0, batch.pages(), all]).fill("kv_indptr", Fill::Cycle(batch.indptr));
            case.fill("kv_indices", places).fill("last_page_len", Fill::Cycle(batch.last))
        }
    })
}

fn models() -> Vec<Prefill> {
    let mut cases = Vec::new();
    for (place, &(name, counts, widths, more)) in MODELS.iter().enumerate() {
        let tier = if place == 0 { Tier::Smoke } else { Tier::Default };
        let source = format!("keys={}", SOURCES[place % SOURCES.len()]);
        let facts = with(with(heads(counts, widths, "bf16"), more), &[&source]);
        cases.extend(case(name, &AROUND_BLOCKS, &facts).map(|c| c.tier(tier)));
    }
    cases
}

/// Every dtype, layout, source and width, and what else there is in turn.
fn combinations() -> Vec<Prefill> {
    const MORE: [&[&str]; 11] = [
        &[],
        &["soft_capped=true", "lse_base=e"],
        &["sliding_window=3", "sink_dtype=f32"],
        &["lse_base=2", "sink_dtype=f16", "causal=false"],
        &["sliding_window=1", "lse_base=2"],
        &["score_scale=given", "soft_capped=true", "sliding_window=4", "sink_dtype=f32", "lse_base=e"],
        &["index_dtype=i64", "lse_base=e", "causal=false", "sliding_window=4"],
        &["causal=false"],
        &["cache_format=f8e4m3", "sliding_window=5"],
        &["cache_format=f8e4m3_per_tensor", "soft_capped=true"],
        &["cache_format=f8e4m3_per_head", "lse_base=e"],
    ];
    let mut cases = Vec::new();
    let mut turn = 0;
    for dtype in DTYPES {
        for (layout, source) in [("nhd", "ragged"), ("nhd", "block_tables"), ("hnd", "block_tables"), ("hnd", "indptr")]
        {
            for more in MORE {
                let width = HEAD_DIMS[turn % HEAD_DIMS.len()];
                turn += 1;
                let facts = with(heads([6, 2], [width, width], dtype), more);
                let facts = with(facts, &[&format!("layout={layout}"), &format!("keys={source}")]);
                let label = format!("d{width}_{dtype}_{layout}_{source}_{turn}");
                cases.extend(case(&label, &AROUND_A_PAGE, &facts));
            }
        }
    }
    cases
}

/// No queries, tokens of no sequence, strides, offsets, unlike widths, many heads of one, values that are not finite.
fn edges() -> Vec<Prefill> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for source in ["ragged", "block_tables"] {
            let facts = |counts: [usize; 2], widths: [usize; 2]| {
                with(heads(counts, widths, dtype), &["lse_base=e", &format!("keys={source}")])
            };
            let of = |what: &str| case(&format!("{dtype}_{source}_{what}"), &AROUND_A_PAGE, &facts([4, 2], [64, 80]));
            let none = of("no_tokens").map(|c| c.fill("cu_seqlens_q", Fill::Constant(0.0)));
            cases.extend(none.map(|c| {
                let mut dims = c.dims.clone();
                dims[1] = 0;
                Case { dims, ..c }
            }));
            // The first token and the last five have no sequence.
            let some = Fill::Cycle(&[1, 2, 3, 3, 8, 11, 15, 17]);
            cases.extend(of("tokens_of_none").map(|c| c.fill("cu_seqlens_q", some)));
            cases.extend(case(&format!("{dtype}_{source}_one"), &ALONE, &facts([4, 2], [64, 64])));
            cases.extend(of("strided").map(|c| c.lie(7, 0)));
            cases.extend(of("shifted").map(|c| c.lie(0, 1)));
            cases.extend(of("strided_shifted").map(|c| c.lie(5, 3).inner_gap(3)));
            for (queries, keys) in [(1, 1), (7, 1), (17, 1), (5, 5)] {
                let label = format!("{dtype}_{source}_h{queries}_kv{keys}");
                cases.extend(case(&label, &AROUND_A_PAGE, &facts([queries, keys], [64, 64])));
            }
            let (tame, keys) =
                (Fill::Tame(Spread::STANDARD), if source == "ragged" { ["k", "v"] } else { ["k_cache", "v_cache"] });
            for argument in ["q", keys[0], keys[1]] {
                let special = of(&format!("special_{argument}")).map(|c| c.grade(Grade::Special));
                let others = ["q", keys[0], keys[1]].into_iter().filter(|other| *other != argument);
                cases.extend(special.map(|c| others.fold(c, |c, other| c.fill(other, tame))));
            }
            cases.extend(case(&format!("{dtype}_{source}"), &LONG, &facts([4, 2], [64, 64])));
            let pair = case(&format!("{dtype}_{source}_stride_past_2_31"), &PAIR, &facts([4, 2], [64, 64]));
            cases.extend(pair.map(|c| c.lie_of("q", far(4 * 64), 0).tier(Tier::Full)));
            cases.extend(of("large_scores").map(|c| c.fill("q", Fill::about(0.0, 12.0))));
            cases.extend(of("large_values").map(|c| c.fill(keys[1], Fill::about(0.0, 1e4))));
            cases.extend(of("small_values").map(|c| c.fill(keys[1], Fill::about(0.0, 1e-6))));
        }
    }
    cases
}

/// Ranges, lengths and pages that their tables do not have.
fn faults() -> Vec<Prefill> {
    let mut cases = Vec::new();
    for index in ["i32", "i64"] {
        let of = |what: &str, source: &str, more: &[&str]| {
            let facts = with(heads([4, 2], [64, 64], "f32"), &["lse_base=e", &format!("index_dtype={index}")]);
            case(
                &format!("{index}_{source}_{what}"),
                &AROUND_A_PAGE,
                &with(with(facts, more), &[&format!("keys={source}")]),
            )
        };
        let queries =
            of("queries", "ragged", &[]).map(|c| c.fill("cu_seqlens_q", Fill::Cycle(&[-1, 2, 3, 3, 8, 7, 20, 23])));
        cases.extend(queries.map(|c| c.faults(QUERIES_OUTSIDE, [0, 4, 6])));
        let keys = of("keys", "ragged", &[]).map(|c| c.fill("kv_indptr", Fill::Cycle(&[0, 0, 1, 4, 8, 7, 22, 31])));
        cases.extend(keys.map(|c| c.faults(KEYS_OUTSIDE, [4, 6])));
        let lengths = of("lengths", "block_tables", &[]);
        let lengths = lengths.map(|c| c.fill("seq_lens", Fill::Cycle(&[13, 12, -1, 4, i32::MIN as i64, 9, 8])));
        cases.extend(lengths.map(|c| c.faults(KEYS_OUTSIDE, [0, 2, 4])));
        // Sequence 2 has no queries, so nothing is asked of its pages; the window of the two queries of sequence 6 begins at
        // key 4, that of the three queries of sequence 4 at key 0.
        let outside = Fill::Cycle(&[99, 1, 2, 3, 4, 5, 24, 7, 8, 9, -2, 11, 24, 13, 14, 15, 16, 17, 24, 19, 20]);
        let pages = of("pages", "block_tables", &["sliding_window=3"]).map(|c| c.fill("block_tables", outside));
        cases.extend(pages.map(|c| c.faults(PAGE_OUTSIDE, [4])));
        let pages = of("all_pages", "block_tables", &[]).map(|c| c.fill("block_tables", outside));
        cases.extend(pages.map(|c| c.faults(PAGE_OUTSIDE, [4, 6])));
        // One fault alone: the page of the last key, and a last page longer than a page.
        let lone = Fill::Cycle(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 18, 19, 20]);
        let pages = of("last_page", "block_tables", &[]).map(|c| c.fill("block_tables", lone));
        cases.extend(pages.map(|c| c.faults(PAGE_OUTSIDE, [5])));
        let long =
            of("long_page", "indptr", &[]).map(|c| c.fill("last_page_len", Fill::Cycle(&[77, 1, 3, 4, 1, 5, 4])));
        cases.extend(long.map(|c| c.faults(KEYS_OUTSIDE, [5])));
        let last = of("last", "indptr", &[]).map(|c| c.fill("last_page_len", Fill::Cycle(&[-3, 0, 5, 4, -1, 1, 4])));
        cases.extend(last.map(|c| c.faults(KEYS_OUTSIDE, [1, 2, 4])));
        let ranges = of("ranges", "indptr", &[]).map(|c| c.fill("kv_indptr", Fill::Cycle(&[0, 0, 1, 2, 1, 5, 11, 10])));
        cases.extend(ranges.map(|c| c.faults(KEYS_OUTSIDE, [3, 5, 6])));
    }
    cases
}
