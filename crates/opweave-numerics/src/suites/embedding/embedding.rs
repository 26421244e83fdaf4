// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `embedding`.
//!
//! Tables of models are too large to draw, so a model's case has its vocabulary and width, and the shard of a few rows that
//! one of very many ranks would hold.

use opweave_contract::Operator;
use opweave_contract::ops::embedding::{Embedding, ID_OUTSIDE_THE_VOCABULARY};
use opweave_reference::Arguments;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{ArgumentKind, Case, Fill, Suite, SuiteArgument, SuiteArguments};
use crate::suites::core_matrix;

const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Name, vocabulary, width.
const MODELS: &[(&str, usize, usize)] = &[
    ("llama3_8b", 128_256, 4096),
    ("qwen2_5_7b", 152_064, 3584),
    ("gemma2_2b", 256_000, 2304),
    ("mistral_7b", 32_000, 4096),
    ("deepseek_v3", 129_280, 7168),
    ("smollm2_135m", 49_152, 576),
];

/// Where a model's shard begins and how many rows it has.
const SHARD: (usize, usize) = (12_800, 16);

/// Widths of one element, around vectors and lines of every dtype, and primes.
const WIDTHS: &[usize] = &[1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 257, 769, 1025];

/// Ids that are no ids of a vocabulary of 40, for each dtype of ids: among them such as would be inside with their upper half
/// cut off.
const OUTSIDE: [(&str, &[i64]); 3] = [
    ("i32", &[-1, 40, i32::MAX as i64, i32::MIN as i64]),
    ("i64", &[-1, 40, 1 << 32, (1 << 32) + 3, i64::MAX, i64::MIN, -(1 << 32)]),
    ("u32", &[40, u32::MAX as i64, 1 << 31]),
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = Embedding;

    fn arguments(&self) -> &'static [SuiteArgument] {
        &[
            SuiteArgument {
                name: "tokens",
                kind: ArgumentKind::Integer(0, 1 << 24),
                help: "replace the cases by every dtype on this many ids",
            },
            SuiteArgument {
                name: "hidden_size",
                kind: ArgumentKind::Integer(1, 1 << 24),
                help: "replace the cases by every dtype on rows of this many elements",
            },
        ]
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Embedding>> {
        let (tokens, width) = (arguments.integer("tokens"), arguments.integer("hidden_size"));
        if tokens.is_some() || width.is_some() {
            return combinations(tokens.unwrap_or(17), width.unwrap_or(33));
        }
        let mut cases = models();
        cases.extend(combinations(17, 33));
        cases.extend(DTYPES.iter().flat_map(|dtype| {
            WIDTHS.iter().filter_map(move |&width| plain(&format!("t5_v11_h{width}_{dtype}"), 11, width, dtype, 5))
        }));
        cases.extend(layouts());
        cases.extend(edges());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<Embedding>> {
        let sizes: [(usize, usize, usize, &str, Tier); 5] = [
            (1, 1024, 4096, "bf16", Tier::Smoke),
            (64, 1024, 4096, "bf16", Tier::Full),
            (1024, 4096, 4096, "bf16", Tier::Default),
            (8192, 4096, 4096, "bf16", Tier::Full),
            (8192, 4096, 4096, "f32", Tier::Full),
        ];
        let timed = |(tokens, vocabulary, width, dtype, tier): (usize, usize, usize, &str, Tier)| {
            let label = format!("t{tokens}_v{vocabulary}_h{width}_{dtype}");
            let case = case(&label, vocabulary, width, dtype, &[], tokens)?;
            Some(case.tier(tier).fill("ids", Fill::Integers(0, vocabulary as i64 - 1)).judged_by(core_matrix::JUDGED))
        };
        let matrix = core_matrix::TOKENS.into_iter().map(|tokens| (tokens, 4096));
        let matrix = matrix.chain(core_matrix::of_models(&core_matrix::HIDDEN));
        let matrix = matrix.map(|(tokens, width)| timed((tokens, 4096, width, "bf16", Tier::Full)));
        core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
    }

    fn base(&self) -> Vec<String> {
        ["vocab_size=64", "hidden_size=64", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn fill(&self, argument: &str) -> Fill {
        if argument == "ids" { Fill::Integers(0, 9) } else { Fill::STANDARD }
    }

    fn looked_up(&self) -> Option<(&'static str, &'static str)> {
        Some(("table", "ids"))
    }

    fn accumulation_length(&self, _: &Case<Embedding>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<Embedding>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

fn case(
    label: &str,
    vocabulary: usize,
    width: usize,
    dtype: &str,
    more: &[String],
    tokens: usize,
) -> Option<Case<Embedding>> {
    let mut facts = vec![format!("vocab_size={vocabulary}"), format!("hidden_size={width}"), format!("dtype={dtype}")];
    facts.extend_from_slice(more);
    Some(Case::new(label, Embedding::problem_from(&facts).ok()?, &[tokens]))
}

/// A whole table and ids anywhere in it.
fn plain(label: &str, vocabulary: usize, width: usize, dtype: &str, tokens: usize) -> Option<Case<Embedding>> {
    let case = case(label, vocabulary, width, dtype, &[], tokens)?;
    Some(case.fill("ids", Fill::Distinct(0, vocabulary.max(tokens) as i64 - 1)))
}

/// The rows of a [`Fill::Strewn`] that are not drawn.
fn strewn(tokens: usize, every: usize) -> impl Iterator<Item = u64> {
    (every..=tokens).step_by(every).map(|end| end as u64 - 1)
}

/// Decode and prefill: most ids in the shard, some with its neighbours.
fn models() -> Vec<Case<Embedding>> {
    let (start, rows) = SHARD;
    let mut cases = Vec::new();
    for (place, &(name, vocabulary, width)) in MODELS.iter().enumerate() {
        let shard = [format!("shard_start={start}"), format!("shard_end={}", start + rows)];
        for (tokens, tier) in [(1, Tier::Smoke), (48, Tier::Default), (2048, Tier::Full)] {
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let label = format!("{name}_t{tokens}_v{vocabulary}_h{width}_bf16");
            let ids = Fill::Strewn {
                low: start as i64,
                high: (start + rows) as i64 - 1,
                every: 4,
                outside: &[0, SHARD.0 as i64 - 1, (SHARD.0 + SHARD.1) as i64, 31_999],
            };
            cases
                .extend(case(&label, vocabulary, width, "bf16", &shard, tokens).map(|c| c.tier(tier).fill("ids", ids)));
        }
    }
    cases
}

/// Every dtype of table and ids, whole and as a shard, all ids inside and some outside the vocabulary.
fn combinations(tokens: usize, width: usize) -> Vec<Case<Embedding>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (ids, outside) in OUTSIDE {
            for (part, shard, (low, high)) in
                [("", &[][..], (0, 39)), ("_shard", &["shard_start=10", "shard_end=29"][..], (5, 33))]
            {
                let facts: Vec<String> =
                    shard.iter().map(|f| (*f).to_owned()).chain([format!("id_dtype={ids}")]).collect();
                let label = format!("t{tokens}_v40_h{width}_{dtype}_{ids}{part}");
                let inside = case(&label, 40, width, dtype, &facts, tokens);
                cases.extend(inside.map(|c| c.fill("ids", Fill::Integers(low, high))));
                let some = case(&format!("{label}_outside"), 40, width, dtype, &facts, tokens);
                let fill = Fill::Strewn { low, high, every: 3, outside };
                cases.extend(some.map(|c| {
                    let c = c.fill("ids", fill);
                    if tokens < 3 { c } else { c.faults(ID_OUTSIDE_THE_VOCABULARY, strewn(tokens, 3)) }
                }));
            }
        }
    }
    cases
}

fn layouts() -> Vec<Case<Embedding>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let of = |label: &str, width: usize| plain(&format!("t7_v9_h{width}_{dtype}_{label}"), 9, width, dtype, 7);
        cases.extend(of("strided", 64).map(|c| c.lie(7, 0)));
        cases.extend(of("shifted", 64).map(|c| c.lie(0, 1)));
        cases.extend(of("shifted_3", 257).map(|c| c.lie(0, 3)));
        cases.extend(of("table_strided", 65).map(|c| c.lie_of("table", 31, 1)));
        cases.extend(of("out_strided", 65).map(|c| c.lie_of("out", 3, 1)));
        cases.extend(of("ids_shifted", 64).map(|c| c.lie_of("ids", 0, 1)));
    }
    let far = || plain("t2_v2_h16_bf16_past_2_31", 2, 16, "bf16", 2).map(|c| c.tier(Tier::Full));
    let relabel = |case: Case<Embedding>, what: &str| Case { label: format!("{}_{what}", case.label), ..case };
    cases.extend(far().map(|c| relabel(c.lie_of("table", (1 << 31) + 8 - 16, 0), "table_stride")));
    cases.extend(far().map(|c| relabel(c.lie_of("out", (1 << 31) + 8 - 16, 0), "out_stride")));
    let (width, tokens) = (4096, (1 << 31) / 4096 + 1);
    let large = case(&format!("t{tokens}_v64_h{width}_bf16_past_2_31"), 64, width, "bf16", &[], tokens);
    cases.extend(large.map(|c| c.fill("ids", Fill::Integers(0, 63)).sampled(64).tier(Tier::Full)));
    cases
}

/// No ids, one id, the ends of the vocabulary, shards without rows, nothing but foreign ids, nothing but faults; values that
/// arithmetic would change.
fn edges() -> Vec<Case<Embedding>> {
    let mut cases = Vec::new();
    let shard = |start: usize, end: usize| [format!("shard_start={start}"), format!("shard_end={end}")];
    for dtype in DTYPES {
        cases.extend(plain(&format!("t0_v9_h64_{dtype}"), 9, 64, dtype, 0));
        cases.extend(plain(&format!("t1_v1_h1_{dtype}"), 1, 1, dtype, 1));
        for (label, grade) in [("special", Grade::Special), ("wide", Grade::Wide)] {
            cases.extend(plain(&format!("t16_v16_h65_{dtype}_{label}"), 16, 65, dtype, 16).map(|c| c.grade(grade)));
        }
        let ends = case(&format!("t4_v40_h8_{dtype}_ends"), 40, 8, dtype, &[], 4);
        cases.extend(ends.map(|c| c.fill("ids", Fill::Cycle(&[39, 0, 39, 0]))));
        let empty = case(&format!("t3_v40_h8_{dtype}_empty_shard"), 40, 8, dtype, &shard(40, 40), 3);
        cases.extend(
            empty.map(|c| c.fill("ids", Fill::Cycle(&[39, 0, 20])).constant("a shard without rows gives zeros")),
        );
        let foreign = case(&format!("t4_v40_h8_{dtype}_foreign"), 40, 8, dtype, &shard(10, 20), 4);
        cases.extend(foreign.map(|c| c.fill("ids", Fill::Cycle(&[9, 20, 0, 39])).constant("foreign ids give zeros")));
        let all = case(&format!("t3_v40_h8_{dtype}_all_outside"), 40, 8, dtype, &[], 3);
        let all = all.map(|c| c.fill("ids", Fill::Cycle(&[40, -1, 41])).constant("ids outside give zeros"));
        cases.extend(all.map(|c| c.faults(ID_OUTSIDE_THE_VOCABULARY, 0..3)));
    }
    cases
}
