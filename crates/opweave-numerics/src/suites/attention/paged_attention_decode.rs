// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `paged_attention_decode`.

use opweave_contract::Operator;
use opweave_contract::ops::attention::{
    KEYS_OUTSIDE, PAGE_OUTSIDE, PageTable, PagedAttentionDecode, PagedAttentionDecodeProblem,
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

type Decode = Case<PagedAttentionDecode>;

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = PagedAttentionDecode;

    fn cases(&self, _: &SuiteArguments) -> Vec<Decode> {
        let mut cases = models();
        cases.extend(combinations());
        cases.extend(edges());
        cases.extend(faults());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Decode> {
        let sizes = [
            (1, 1024, "bf16", Tier::Default),
            (4, 1024, "bf16", Tier::Default),
            (8, 4096, "bf16", Tier::Full),
            (8, 4096, "f32", Tier::Full),
            (8, 4096, "f16", Tier::Full),
            (32, 1024, "bf16", Tier::Full),
            (1, 32768, "bf16", Tier::Full),
        ];
        let timed = |(batch, context, dtype, tier): (usize, usize, &str, Tier)| {
            let bounds = [format!("sequences.max={batch}"), format!("max_pages.max={}", context / 16)];
            let mut facts = with(heads([32, 8], [128, 128], dtype), &["page_size=16"]);
            facts.extend(bounds);
            let problem = PagedAttentionDecode::problem_from(&facts).ok()?;
            let pages = batch * context / 16;
            let label = format!("b{batch}_l{context}_h32_kv8_d128_{dtype}");
            let case = Case::new(label, problem, &[batch, context / 16, 0, pages]).tier(tier);
            Some(
                case.fill("block_tables", Fill::Distinct(0, pages as i64 - 1))
                    .fill("seq_lens", Fill::Constant(context as f64)),
            )
        };
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        with(heads([4, 2], [64, 64], "bf16"), &["page_size=4"])
    }

    fn fill(&self, argument: &str) -> Fill {
        common::fill(argument)
    }

    fn accumulation_length(&self, case: &Decode) -> usize {
        case.dims[1].max(case.dims[2]) * case.problem.page_size
    }

    fn tolerance(&self, case: &Decode, name: &str, dtype: DType, inputs: &Arguments) -> Tolerance {
        let scale = inputs.scalar("softmax_scale").unwrap_or(1.0).abs();
        let sums = [self.accumulation_length(case), case.problem.head_dim];
        common::tolerance(name, dtype, scale.max(0.125), sums, inputs)
    }
}

/// A case of a batch: its pages lie anywhere in a cache that has some more.
fn case(label: &str, batch: &Batch, facts: &[String]) -> Option<Decode> {
    let mut facts = facts.to_vec();
    if !facts.iter().any(|fact| fact.starts_with("page_size=")) {
        facts.push(format!("page_size={PAGE}"));
    }
    let problem: PagedAttentionDecodeProblem = PagedAttentionDecode::problem_from(&facts).ok()?;
    let (sequences, each) = (batch.sequences(), batch.max_pages());
    let all = sequences * each + 3;
    let dims = match problem.page_table {
        PageTable::BlockTables => [sequences, each, 0, all],
        PageTable::Indptr => [sequences, 0, batch.pages(), all],
    };
    let places = Fill::Distinct(0, all as i64 - 1);
    // Neither scalar is the default, and each is read by the problems that say so alone.
    let case = Case::new(format!("{label}_{}", batch.name), problem, &dims);
    let case = case.scalar("softmax_scale", SCALE).scalar("soft_cap", CAP);
    Some(match problem.page_table {
        PageTable::BlockTables => case.fill("block_tables", places).fill("seq_lens", Fill::Cycle(batch.lens)),
        PageTable::Indptr => {
            let case = case.fill("kv_indptr", Fill::Cycle(batch.indptr)).fill("kv_indices", places);
            case.fill("last_page_len", Fill::Cycle(batch.last))
        }
    })
}

fn models() -> Vec<Decode> {
    let mut cases = Vec::new();
    for (place, &(name, counts, widths, more)) in MODELS.iter().enumerate() {
        let tier = if place == 0 { Tier::Smoke } else { Tier::Default };
        let facts = with(heads(counts, widths, "bf16"), more);
        cases.extend(case(name, &AROUND_BLOCKS, &facts).map(|c| c.tier(tier)));
    }
    cases
}

/// Every dtype, layout, table and width, and what else there is in turn.
fn combinations() -> Vec<Decode> {
    const MORE: [&[&str]; 10] = [
        &[],
        &["soft_capped=true", "lse_base=e"],
        &["sliding_window=3", "sink_dtype=f32"],
        &["lse_base=2", "sink_dtype=f16"],
        &["sliding_window=1", "lse_base=2"],
        &["score_scale=given", "soft_capped=true", "sliding_window=64", "sink_dtype=f32", "lse_base=e"],
        &["index_dtype=i64", "lse_base=e"],
        &["cache_format=f8e4m3", "sliding_window=5"],
        &["cache_format=f8e4m3_per_tensor", "soft_capped=true"],
        &["cache_format=f8e4m3_per_head", "lse_base=e"],
    ];
    let mut cases = Vec::new();
    let mut turn = 0;
    for dtype in DTYPES {
        for layout in ["nhd", "hnd"] {
            for table in ["block_tables", "indptr"] {
                for more in MORE {
                    let width = HEAD_DIMS[turn % HEAD_DIMS.len()];
                    turn += 1;
                    let facts = with(heads([6, 2], [width, width], dtype), more);
                    let facts = with(facts, &[&format!("layout={layout}"), &format!("page_table={table}")]);
                    let label = format!("d{width}_{dtype}_{layout}_{table}_{turn}");
                    cases.extend(case(&label, &AROUND_A_PAGE, &facts));
                }
            }
        }
    }
    cases
}

/// No sequences, no pages, one sequence, strides, offsets, unlike widths, many heads of one, values that are not finite.
fn edges() -> Vec<Decode> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let facts = |counts: [usize; 2], widths: [usize; 2], more: &[&str]| with(heads(counts, widths, dtype), more);
        let of =
            |what: &str| case(&format!("{dtype}_{what}"), &AROUND_A_PAGE, &facts([4, 2], [64, 80], &["lse_base=e"]));
        cases.extend(of("none").map(|c| Case { dims: vec![0, 3, 0, 5], ..c }));
        let empty = of("empty").map(|c| Case { dims: vec![3, 0, 0, 0], ..c }.fill("seq_lens", Fill::Constant(0.0)));
        cases.extend(empty.map(|c| c.constant("no sequence has a key")));
        cases.extend(case(&format!("{dtype}_one"), &ALONE, &facts([4, 2], [64, 64], &[])));
        cases.extend(of("strided").map(|c| c.lie(7, 0)));
        cases.extend(of("shifted").map(|c| c.lie(0, 1)));
        cases.extend(of("strided_shifted").map(|c| c.lie(5, 3).inner_gap(3)));
        for (queries, keys) in [(1, 1), (7, 1), (17, 1), (40, 2), (5, 5)] {
            let label = format!("{dtype}_h{queries}_kv{keys}");
            cases.extend(case(&label, &AROUND_A_PAGE, &facts([queries, keys], [64, 64], &["lse_base=e"])));
        }
        for argument in ["q", "k_cache", "v_cache"] {
            let special = of(&format!("special_{argument}")).map(|c| c.grade(Grade::Special));
            let others = ["q", "k_cache", "v_cache"].into_iter().filter(|other| *other != argument);
            cases.extend(special.map(|c| others.fold(c, |c, other| c.fill(other, Fill::Tame(Spread::STANDARD)))));
        }
        for (window, table) in [("none", "block_tables"), ("700", "indptr")] {
            let more = [format!("sliding_window={window}"), format!("page_table={table}")];
            let bounds = ["sequences.max=3", "max_pages.max=275", "indices.max=554", "lse_base=2"];
            let facts = with(facts([4, 2], [64, 64], &bounds), &[&more[0], &more[1]]);
            cases.extend(case(&format!("{dtype}_window_{window}"), &LONG, &facts));
        }
        let pair = case(&format!("{dtype}_stride_past_2_31"), &PAIR, &facts([4, 2], [64, 64], &[]));
        cases.extend(pair.map(|c| c.lie_of("q", far(4 * 64), 0).tier(Tier::Full)));
        cases.extend(of("large_scores").map(|c| c.fill("q", Fill::about(0.0, 12.0))));
        cases.extend(of("large_values").map(|c| c.fill("v_cache", Fill::about(0.0, 1e4))));
        cases.extend(of("small_values").map(|c| c.fill("v_cache", Fill::about(0.0, 1e-6))));
    }
    cases
}

/// Lengths and pages that their tables do not have.
fn faults() -> Vec<Decode> {
    let mut cases = Vec::new();
    for index in ["i32", "i64"] {
        let facts = |table: &str| {
            let more = [format!("index_dtype={index}"), format!("page_table={table}")];
            with(heads([4, 2], [64, 64], "f32"), &["lse_base=e", "sliding_window=5", &more[0], &more[1]])
        };
        let blocks = |what: &str| case(&format!("{index}_{what}"), &AROUND_A_PAGE, &facts("block_tables"));
        let lists = |what: &str| case(&format!("{index}_{what}"), &AROUND_A_PAGE, &facts("indptr"));
        // Three pages of four keys each.
        let lengths =
            blocks("lengths").map(|c| c.fill("seq_lens", Fill::Cycle(&[13, 12, -1, 4, i32::MIN as i64, 9, 8])));
        cases.extend(lengths.map(|c| c.faults(KEYS_OUTSIDE, [0, 2, 4])));
        // Of a sequence of 9 keys the window sees only the last two pages: the first may be anything.
        let outside = Fill::Cycle(&[99, 1, 2, -1, 4, 5, 24, 7, 8, 9, -2, 11, 23, 24, 14, 24, 16, 17, 18, 24, 20]);
        let pages = blocks("pages").map(|c| c.fill("block_tables", outside));
        cases.extend(pages.map(|c| c.faults(PAGE_OUTSIDE, [1, 2, 4, 6])));
        // One fault alone: the page of the last key, and a last page longer than a page.
        let lone = Fill::Cycle(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 18, 19, 20]);
        cases.extend(blocks("last_page").map(|c| c.fill("block_tables", lone).faults(PAGE_OUTSIDE, [5])));
        let lone = Fill::Cycle(&[77, 1, 3, 4, 1, 5, 4]);
        cases.extend(lists("long_page").map(|c| c.fill("last_page_len", lone).faults(KEYS_OUTSIDE, [5])));
        let ends = Fill::Cycle(&[0, 0, 1, 2, 1, 5, 11, 10]);
        let ranges = lists("ranges").map(|c| c.fill("kv_indptr", ends));
        cases.extend(ranges.map(|c| c.faults(KEYS_OUTSIDE, [3, 5, 6])));
        let last = lists("last").map(|c| c.fill("last_page_len", Fill::Cycle(&[-3, 0, 5, 4, -1, 1, 4])));
        cases.extend(last.map(|c| c.faults(KEYS_OUTSIDE, [1, 2, 4])));
    }
    let facts = with(heads([4, 2], [64, 64], "f32"), &["index_dtype=i64", "lse_base=e"]);
    let far = case("i64_far", &AROUND_A_PAGE, &facts);
    let lengths = Fill::Cycle(&[1 << 32, 1, 3, (1 << 32) + 4, 5, i64::MAX, 8]);
    cases.extend(far.map(|c| c.fill("seq_lens", lengths).faults(KEYS_OUTSIDE, [0, 3, 5])));
    cases
}
