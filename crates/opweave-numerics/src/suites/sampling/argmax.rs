// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `argmax`.

use opweave_contract::ops::sampling::Argmax;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{ArgumentKind, Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};
use crate::suites::core_matrix;

const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Vocabularies of public models, and the width that they are padded to where they are.
const MODELS: &[(&str, usize, Option<usize>, &str)] = &[
    ("llama3", 128_256, None, "f32"),
    ("qwen2_5", 152_064, Some(151_665), "bf16"),
    ("gemma2", 256_000, None, "bf16"),
    ("mistral_v1", 32_000, None, "f32"),
    ("deepseek_v3", 129_280, Some(128_815), "f32"),
    ("gpt_neox", 50_432, Some(50_277), "f16"),
];

/// Widths around vectors, four vectors and blocks of the search.
const WIDTHS: &[usize] =
    &[1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 257, 769, 1000, 2047, 2048, 2049, 4097, 6145];

/// Flags beside the dtype.
const FLAGS: &[&[&str]] = &[
    &[],
    &["index_dtype=i32"],
    &["index_dtype=u32", "nan=first"],
    &["nan=first"],
    &["index_dtype=i32", "nan=first"],
    &["index_dtype=u32"],
];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = Argmax;

    fn arguments(&self) -> &'static [SuiteArgument] {
        &[SuiteArgument {
            name: "vocab_size",
            kind: ArgumentKind::Integer(1, 1 << 24),
            help: "replace the cases by every flag and dtype on three rows of this many elements",
        }]
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Argmax>> {
        if let Some(width) = arguments.integer("vocab_size") {
            return flags(width);
        }
        [models(), flags(300), widths(), layouts(), ties(), special(), padded(), offsets()].concat()
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<Argmax>> {
        let sizes = [
            (1, 128_256, "f32", Tier::Smoke),
            (1, 152_064, "bf16", Tier::Full),
            (16, 32_000, "f32", Tier::Full),
            (64, 128_256, "bf16", Tier::Default),
            (256, 128_256, "bf16", Tier::Full),
            (256, 128_256, "f32", Tier::Full),
        ];
        let timed = |(tokens, width, dtype, tier)| {
            let case = case(&format!("t{tokens}_v{width}_{dtype}"), width, dtype, &[], tokens)?;
            Some(case.tier(tier).judged_by(core_matrix::JUDGED_OF_WIDE))
        };
        let matrix = [1, 8, 64, 256].map(|tokens| (tokens, 128_256));
        let models = core_matrix::VOCABULARIES.map(|width| (32, width));
        let matrix = matrix.into_iter().chain(models).chain([core_matrix::AWKWARD]);
        let matrix = matrix.map(|(tokens, width)| timed((tokens, width, "bf16", Tier::Full)));
        core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
    }

    fn base(&self) -> Vec<String> {
        ["vocab_size=300", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn accumulation_length(&self, _: &Case<Argmax>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<Argmax>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

fn case(label: &str, width: usize, dtype: &str, facts: &[&str], tokens: usize) -> Option<Case<Argmax>> {
    let mut all = vec![format!("vocab_size={width}"), format!("dtype={dtype}")];
    all.extend(facts.iter().map(|f| (*f).to_owned()));
    Some(Case::new(label, <Argmax as opweave_contract::Operator>::problem_from(&all).ok()?, &[tokens]))
}

/// Decode of every model.
fn models() -> Vec<Case<Argmax>> {
    let mut cases = Vec::new();
    for (place, &(name, width, valid, dtype)) in MODELS.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (3, Tier::Default), (64, Tier::Full)] {
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let valid = valid.map(|valid| format!("valid_size={valid}"));
            let facts: Vec<&str> = valid.iter().map(String::as_str).collect();
            let case = case(&format!("{name}_t{tokens}_v{width}_{dtype}"), width, dtype, &facts, tokens);
            cases.extend(case.map(|case| case.tier(tier)));
        }
    }
    cases
}

fn flags(width: usize) -> Vec<Case<Argmax>> {
    let all = DTYPES.into_iter().flat_map(|dtype| FLAGS.iter().map(move |facts| (dtype, *facts)));
    all.filter_map(|(dtype, facts)| case(&label(3, width, dtype, facts, ""), width, dtype, facts, 3)).collect()
}

fn label(tokens: usize, width: usize, dtype: &str, facts: &[&str], word: &str) -> String {
    let facts = facts.iter().map(|fact| format!("_{}", fact.replace('=', "_"))).collect::<String>();
    format!("t{tokens}_v{width}_{dtype}{facts}{word}")
}

/// The largest element in the last column, in the first, and somewhere; with small ones so that a stray zero would win.
fn widths() -> Vec<Case<Argmax>> {
    const LAST: ValueAt = |row, column| -50.0 + (row + column) as f64 / 4.0;
    const FIRST: ValueAt = |row, column| -60.0 - (row + column) as f64 / 4.0;
    let mut cases = Vec::new();
    for (at, &width) in WIDTHS.iter().enumerate() {
        for (place, dtype) in DTYPES.into_iter().enumerate() {
            let facts = FLAGS[(at + place) % FLAGS.len()];
            let of = |word: &str| case(&label(3, width, dtype, facts, word), width, dtype, facts, 3);
            let drawn =
                of("").map(|c| if width < 4 { c.constant("few columns, of which all rows may choose one") } else { c });
            cases.extend(drawn.map(|c| c.fill("logits", Fill::about(-40.0, 3.0))));
            if width > 1 {
                let reason = "the largest element stands in one column of all rows";
                cases.extend(of("_last").map(|c| c.fill("logits", Fill::Function(LAST)).constant(reason)));
                cases.extend(of("_first").map(|c| c.fill("logits", Fill::Function(FIRST)).constant(reason)));
            }
        }
    }
    cases
}

fn layouts() -> Vec<Case<Argmax>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let of = |word: &str, width| case(&label(4, width, dtype, &[], word), width, dtype, &[], 4);
        cases.extend(of("_strided", 128).map(|c| c.lie(7, 0)));
        cases.extend(of("_strided_shifted", 257).map(|c| c.lie(5, 3)));
        cases.extend(of("_shifted", 128).map(|c| c.lie(0, 1)));
        cases.extend(of("_logits_shifted", 2100).map(|c| c.lie_of("logits", 0, 1)));
        cases.extend(case(&format!("t0_v300_{dtype}"), 300, dtype, &[], 0));
        // One largest element for each row, from the first column to the last.
        const DIAGONAL: ValueAt = |row, column| if row == column { 2.0 } else { (column % 5) as f64 / 4.0 };
        for width in [33, 130] {
            let each = case(&label(width, width, dtype, &[], "_anywhere"), width, dtype, &[], width);
            cases.extend(each.map(|c| c.fill("logits", Fill::Function(DIAGONAL))));
        }
    }
    cases
}

/// Rows with the largest value in several places: near each other, a vector apart, a block apart; zeros of both signs.
fn ties() -> Vec<Case<Argmax>> {
    const TIES: ValueAt = |row, column| match (row, column) {
        (0, 1 | 2) => 5.0,
        (1, 7 | 16 | 23 | 64) => 5.0,
        (2, 2047..=2049) => 5.0,
        (3, 4000 | 2100 | 4099) => 5.0,
        // -0 and 0 are one number.
        (4, _) => {
            if column < 9 {
                -1.0
            } else if column % 2 == 1 {
                -0.0
            } else {
                0.0
            }
        }
        (5, _) => 3.0,
        (6, 15 | 31) => f64::INFINITY,
        (7, _) => {
            if column == 77 {
                f64::MIN
            } else {
                f64::NEG_INFINITY
            }
        }
        _ => 0.0,
    };
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for facts in [FLAGS[0], FLAGS[4]] {
            let tied = case(&label(8, 4100, dtype, facts, "_ties"), 4100, dtype, facts, 8);
            cases.extend(tied.map(|c| c.fill("logits", Fill::Function(TIES))));
        }
        // Few values, many ties.
        let coarse = case(&label(16, 700, dtype, &[], "_exact"), 700, dtype, &[], 16);
        cases.extend(coarse.map(|c| c.grade(Grade::Exact)));
    }
    cases
}

/// NaN alone, first, last, everywhere but in one place; infinities beside it.
fn special() -> Vec<Case<Argmax>> {
    const NANS: ValueAt = |row, column| match (row, column) {
        (0, _) => f64::NAN,
        (1, 0) => f64::NAN,
        (1, 1) => 1.0,
        (2, _) => f64::NEG_INFINITY,
        (3, 0 | 1) => f64::INFINITY,
        (4, _) => {
            if column == 2 {
                f64::NEG_INFINITY
            } else {
                f64::NAN
            }
        }
        (5, 1) => f64::NAN,
        (5, 2) => f64::INFINITY,
        (6, _) => {
            if column.is_multiple_of(3) {
                f64::NEG_INFINITY
            } else {
                f64::NAN
            }
        }
        (7, 2) => f64::NAN,
        (8, _) => {
            if column >= 2 {
                f64::NAN
            } else {
                -2.0 - column as f64
            }
        }
        (9, _) => {
            if column + 1 == 2500 {
                -1e4
            } else {
                f64::NAN
            }
        }
        _ => 0.0,
    };
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for facts in FLAGS {
            for width in [3, 70, 2500] {
                let of = case(&label(10, width, dtype, facts, "_nan"), width, dtype, facts, 10);
                cases.extend(of.map(|c| c.fill("logits", Fill::Function(NANS))));
            }
            let of = case(&label(16, 131, dtype, facts, "_special"), 131, dtype, facts, 16);
            cases.extend(of.map(|c| c.grade(Grade::Special)));
            let of = case(&label(16, 133, dtype, facts, "_wide"), 133, dtype, facts, 16);
            cases.extend(of.map(|c| c.grade(Grade::Wide)));
        }
    }
    cases
}

/// Padding that is larger than everything, or NaN: never looked at.
fn padded() -> Vec<Case<Argmax>> {
    const LARGE: ValueAt = |row, column| if column >= 131 { 1e4 } else { ((row * 37 + column * 11) % 131) as f64 };
    const NAN: ValueAt = |row, column| match column {
        // Rows of NaN, and padding of every kind.
        0..3 if row == 0 => f64::NAN,
        0..3 => ((row + column) % 3) as f64,
        _ => [f64::NAN, 1e4, f64::INFINITY][row % 3],
    };
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (order, first) in [("nan=last", "last"), ("nan=first", "first")] {
            let of = case(&format!("t9_v160_{dtype}_valid_131_{first}"), 160, dtype, &["valid_size=131", order], 9);
            cases.extend(of.map(|c| c.fill("logits", Fill::Function(LARGE))));
            let of = case(&format!("t9_v4_{dtype}_valid_3_{first}"), 4, dtype, &["valid_size=3", order], 9);
            cases.extend(of.map(|c| c.fill("logits", Fill::Function(NAN))));
        }
        let of = case(&format!("t3_v64_{dtype}_valid_all"), 64, dtype, &["valid_size=64"], 3);
        cases.extend(of);
        let of = case(&format!("t3_v64_{dtype}_valid_1"), 64, dtype, &["valid_size=1"], 3);
        cases.extend(of.map(|c| c.constant("one column is looked at")));
    }
    cases
}

/// Rows wide enough to be cut for two threads, with ties across the cut; offsets past 2^31.
fn offsets() -> Vec<Case<Argmax>> {
    const CUT: ValueAt = |row, column| if column % 150_000 == 140_000 + row * 3 { 9.0 } else { (column % 8) as f64 };
    let mut cases = Vec::new();
    for (tokens, dtype, nan) in [(1, "f32", "nan=last"), (1, "bf16", "nan=first")] {
        let wide = case(&format!("t{tokens}_v600000_{dtype}_cut"), 600_000, dtype, &[nan], tokens);
        cases.extend(wide.map(|c| c.fill("logits", Fill::Function(CUT))));
    }
    let far = case("t2_v16_bf16_stride_past_2_31", 16, "bf16", &[], 2);
    cases.extend(far.map(|c| c.lie_of("logits", (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    let tokens = (1 << 31) / 131_072 + 1;
    let large = case(&format!("t{tokens}_v131072_bf16_past_2_31"), 131_072, "bf16", &[], tokens);
    cases.extend(large.map(|c| c.sampled(32).tier(Tier::Full)));
    cases
}
