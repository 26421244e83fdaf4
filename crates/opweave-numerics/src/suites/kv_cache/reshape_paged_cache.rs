// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `reshape_paged_cache`.
//!
//! Caches are filled before the call, so that a slot that should not have been touched shows, and compared whole.

use opweave_contract::Operator;
use opweave_contract::ops::kv_cache::{ReshapePagedCache, SLOT_OUTSIDE_THE_CACHE};
use opweave_reference::Arguments;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::{Grade, Spread};
use crate::suite::{ArgumentKind, Case, Fill, Suite, SuiteArgument, SuiteArguments};
use crate::suites::core_matrix;

const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];
const LAYOUTS: [&str; 2] = ["nhd", "hnd"];
const FORMATS: [&str; 4] = ["plain", "f8e4m3", "f8e4m3_per_tensor", "f8e4m3_per_head"];

/// Name, heads, features of keys and of values, tokens of a page.
const MODELS: &[(&str, usize, usize, usize, usize)] = &[
    ("llama3_8b", 8, 128, 128, 16),
    ("qwen2_5_7b", 4, 128, 128, 16),
    ("gemma2_2b", 4, 256, 256, 32),
    ("phi3_mini", 32, 96, 96, 16),
    // Its keys are longer than its values.
    ("deepseek_v2_lite", 16, 192, 128, 64),
];

/// Features of a head: around vectors and lines of every dtype.
const WIDTHS: &[usize] = &[1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 80, 112, 129, 256];

/// Pages of small caches, and tokens of one of them.
const PAGES: (usize, usize) = (5, 4);
const CAPACITY: i64 = (PAGES.0 * PAGES.1) as i64;

/// Slots that are padding or nowhere, for each dtype: among them such as would be inside with their upper half cut off.
const OUTSIDE: [(&str, &[i64]); 2] = [
    ("i32", &[-1, CAPACITY, -2, i32::MAX as i64, i32::MIN as i64]),
    ("i64", &[1 << 32, -1, CAPACITY, -2, (1 << 32) + 3, i64::MAX, i64::MIN]),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = ReshapePagedCache;

    fn arguments(&self) -> &'static [SuiteArgument] {
        &[
            SuiteArgument {
                name: "tokens",
                kind: ArgumentKind::Integer(0, CAPACITY as u64),
                help: "replace the cases by every format, layout and dtype on this many tokens",
            },
            SuiteArgument {
                name: "head_dim",
                kind: ArgumentKind::Integer(1, 1 << 16),
                help: "replace the cases by every format, layout and dtype on heads of this many features",
            },
        ]
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<ReshapePagedCache>> {
        let (tokens, head_dim) = (arguments.integer("tokens"), arguments.integer("head_dim"));
        if tokens.is_some() || head_dim.is_some() {
            return combinations(tokens.unwrap_or(9), head_dim.unwrap_or(20));
        }
        let mut cases = models();
        cases.extend(combinations(9, 20));
        for dtype in DTYPES {
            for layout in LAYOUTS {
                for format in ["plain", "f8e4m3_per_head"] {
                    for &width in WIDTHS {
                        let label = format!("t3_h2_d{width}_{dtype}_{layout}_{format}");
                        cases.extend(small(&label, (2, width, width), dtype, layout, format, 3));
                    }
                    cases.extend(edges(dtype, layout, format));
                }
            }
        }
        cases.extend(far());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<ReshapePagedCache>> {
        let sizes = [
            (1, "plain", Tier::Smoke),
            (16, "plain", Tier::Full),
            (1024, "plain", Tier::Default),
            (1024, "f8e4m3_per_tensor", Tier::Full),
            (16384, "plain", Tier::Full),
            (16384, "f8e4m3_per_tensor", Tier::Full),
        ];
        let sized = |(heads, width): (usize, usize), tokens: usize, format: &str, tier: Tier| {
            let label = format!("t{tokens}_h{heads}_d{width}_bf16_{format}");
            let pages = tokens.div_ceil(16).max(4);
            let facts = facts((heads, width, width), 16, "bf16", "nhd", format);
            Some(case(&label, &facts, [tokens, tokens, pages], pages * 16)?.tier(tier))
        };
        let timed = |(tokens, format, tier): (usize, &str, Tier)| sized((8, 128), tokens, format, tier);
        let matrix = core_matrix::TOKENS.map(|tokens| timed((tokens, "plain", Tier::Full)));
        let models = core_matrix::HEADS.into_iter().flat_map(|(_, heads)| {
            core_matrix::MODEL_TOKENS.map(|tokens| sized((heads, 128), tokens, "plain", Tier::Full))
        });
        // Heads that fit no vector.
        let awkward = sized((3, 83), core_matrix::AWKWARD.0, "plain", Tier::Full);
        let matrix = matrix.into_iter().chain(models).chain([awkward]);
        core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
    }

    fn base(&self) -> Vec<String> {
        facts((2, 20, 20), PAGES.1, "bf16", "nhd", "plain")
    }

    fn fill(&self, argument: &str) -> Fill {
        match argument {
            "slot_mapping" => Fill::Distinct(0, 2),
            "k_scale" => Fill::Tame(Spread { center: 0.5, scale: 0.05 }),
            "v_scale" => Fill::Tame(Spread { center: 2.0, scale: 0.25 }),
            _ => Fill::STANDARD,
        }
    }

    fn accumulation_length(&self, _: &Case<ReshapePagedCache>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<ReshapePagedCache>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

fn facts(
    (heads, head_dim, head_dim_v): (usize, usize, usize),
    page_size: usize,
    dtype: &str,
    layout: &str,
    format: &str,
) -> Vec<String> {
    vec![
        format!("num_kv_heads={heads}"),
        format!("head_dim={head_dim}"),
        format!("head_dim_v={head_dim_v}"),
        format!("page_size={page_size}"),
        format!("dtype={dtype}"),
        format!("layout={layout}"),
        format!("cache_format={format}"),
    ]
}

/// A case whose slots are anywhere in the cache.
fn case(label: &str, facts: &[String], dims: [usize; 3], capacity: usize) -> Option<Case<ReshapePagedCache>> {
    let case = Case::new(label, ReshapePagedCache::problem_from(facts).ok()?, &dims);
    Some(case.fill("slot_mapping", Fill::Distinct(0, capacity.max(dims[0]) as i64 - 1)))
}

/// A case on the small cache, with two rows more than slots.
fn small(
    label: &str,
    shape: (usize, usize, usize),
    dtype: &str,
    layout: &str,
    format: &str,
    tokens: usize,
) -> Option<Case<ReshapePagedCache>> {
    case(label, &facts(shape, PAGES.1, dtype, layout, format), [tokens, tokens + 2, PAGES.0], CAPACITY as usize)
}

fn models() -> Vec<Case<ReshapePagedCache>> {
    let mut cases = Vec::new();
    for (place, &(name, heads, head_dim, head_dim_v, page_size)) in MODELS.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (33, Tier::Default), (2048, Tier::Full)] {
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            for format in ["plain", "f8e4m3_per_tensor"] {
                let suffix = if format == "plain" { "" } else { "_f8" };
                let label = format!("{name}_t{tokens}_h{heads}_d{head_dim}_p{page_size}_bf16{suffix}");
                let pages = (tokens / page_size + 1) * 2;
                let facts = facts((heads, head_dim, head_dim_v), page_size, "bf16", "nhd", format);
                let case = case(&label, &facts, [tokens, tokens, pages], pages * page_size);
                cases.extend(case.map(|c| c.tier(tier)));
            }
        }
    }
    cases
}

/// Every dtype, layout and format: all slots in the cache, and some padding, some nowhere.
fn combinations(tokens: usize, head_dim: usize) -> Vec<Case<ReshapePagedCache>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for layout in LAYOUTS {
            for format in FORMATS {
                let label = format!("t{tokens}_h3_d{head_dim}_{dtype}_{layout}_{format}");
                let shape = (3, head_dim, head_dim.div_ceil(2));
                cases.extend(small(&label, shape, dtype, layout, format, tokens));
                if format != "plain" {
                    let ends = small(&format!("{label}_codes"), shape, dtype, layout, format, tokens);
                    let ends = ends.map(|c| c.fill("k", Fill::Function(codes)).fill("v", Fill::Function(codes)));
                    cases.extend(ends.map(|c| c.fill("k_scale", Fill::Constant(1.0))));
                }
                for (slots, outside) in OUTSIDE {
                    let mut facts = facts(shape, PAGES.1, dtype, layout, format);
                    facts.push(format!("slot_dtype={slots}"));
                    let dims = [tokens, tokens + 1, PAGES.0];
                    let some = case(&format!("{label}_{slots}_outside"), &facts, dims, CAPACITY as usize);
                    let fill = Fill::DistinctStrewn { low: 0, high: CAPACITY - 1, every: 2, outside };
                    // Padding is no fault.
                    let wrong = (0..tokens / 2).filter(|n| outside[n % outside.len()] != -1);
                    let rows: Vec<u64> = wrong.map(|n| 2 * n as u64 + 1).collect();
                    cases.extend(some.map(|c| {
                        let c = c.fill("slot_mapping", fill);
                        if rows.is_empty() { c } else { c.faults(SLOT_OUTSIDE_THE_CACHE, rows) }
                    }));
                }
            }
        }
    }
    cases
}

/// Values around the largest code, halfway between codes, and below the smallest.
fn codes(row: usize, column: usize) -> f64 {
    const EDGES: [f64; 12] =
        [448.0, 449.0, 464.0, 480.0, 0.001, 0.0009765625, 0.0029296875, 1.0625, 1.1875, 17.0, 0.0, 1e-30];
    (if row.is_multiple_of(2) { 1.0 } else { -1.0 }) * EDGES[column % EDGES.len()]
}

/// No slots, no pages, nothing but padding, a whole cache, layouts, magnitudes; scales of zero and NaN.
fn edges(dtype: &str, layout: &str, format: &str) -> Vec<Case<ReshapePagedCache>> {
    let mut cases = Vec::new();
    let of = |what: &str, tokens: usize| {
        small(&format!("t{tokens}_h2_d12_{dtype}_{layout}_{format}_{what}"), (2, 12, 9), dtype, layout, format, tokens)
    };
    cases.extend(of("no_tokens", 0));
    cases.extend(of("whole", CAPACITY as usize));
    cases.extend(of("all_padding", 3).map(|c| c.fill("slot_mapping", Fill::Cycle(&[-1]))));
    let all = of("all_outside", 3).map(|c| c.fill("slot_mapping", Fill::Cycle(&[CAPACITY, -2, CAPACITY + 1])));
    cases.extend(all.map(|c| c.faults(SLOT_OUTSIDE_THE_CACHE, 0..3)));
    cases.extend(of("no_pages", 3).map(|c| {
        let c = Case { dims: vec![3, 3, 0], ..c };
        c.fill("slot_mapping", Fill::Cycle(&[-1, 0, -1])).faults(SLOT_OUTSIDE_THE_CACHE, [1])
    }));
    cases.extend(of("ends", 4).map(|c| c.fill("slot_mapping", Fill::Cycle(&[0, CAPACITY - 1, 3, 4]))));
    cases.extend(of("strided", 4).map(|c| c.lie(7, 0)));
    cases.extend(of("shifted", 4).map(|c| c.lie(0, 1)));
    cases.extend(of("strided_shifted", 4).map(|c| c.lie(5, 3).inner_gap(3)));
    cases.extend(of("pages_strided", 4).map(|c| c.lie_of("k_cache", 300, 0).lie_of("v_cache", 7, 1)));
    for (label, grade) in [("wide", Grade::Wide), ("special", Grade::Special)] {
        cases.extend(of(label, 16).map(|c| c.grade(grade)));
    }
    if format == "plain" {
        return cases;
    }
    // Quotients at the ends of the codes; then scales that make them infinite or NaN.
    for (label, scale) in [("scale_zero", 0.0), ("scale_nan", f64::NAN), ("scale_negative", -0.5)] {
        cases.extend(of(label, 4).map(|c| c.fill("k_scale", Fill::Constant(scale)).fill("k", Fill::Function(codes))));
    }
    cases
}

/// Pages and rows 2^31 elements apart.
fn far() -> Vec<Case<ReshapePagedCache>> {
    let gap = (1 << 31) + 8;
    let of = |what: &str| {
        let facts = facts((1, 16, 16), 1, "bf16", "nhd", "plain");
        let label = format!("t2_h1_d16_bf16_{what}_past_2_31");
        case(&label, &facts, [2, 2, 2], 2).map(|c| c.tier(Tier::Full))
    };
    let mut cases = Vec::new();
    cases.extend(of("pages").map(|c| c.lie_of("k_cache", gap - 16, 0)));
    cases.extend(of("rows").map(|c| c.lie_of("v", gap - 16, 0)));
    cases
}
