// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `top_k_top_p_sampling`.
//!
//! Tokens are compared exactly. Where the random number falls within the rounding of a weight from a boundary between two
//! tokens, an implementation may draw the other one; seeds are fixed, and some ten thousand draws come nowhere near.

use opweave_contract::ops::sampling::{TEMPERATURE_ILLEGAL, TOP_K_ILLEGAL, TOP_P_ILLEGAL, TopKTopPSampling};
use opweave_reference::Arguments;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{Case, Fill, Suite, SuiteArguments, ValueAt};
use crate::suites::core_matrix;

const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Vocabularies of public models, and the width that they are padded to where they are.
const MODELS: &[(&str, usize, Option<usize>, &str)] = &[
    ("llama3", 128_256, None, "f32"),
    ("qwen2_5", 152_064, Some(151_665), "bf16"),
    ("mistral_v1", 32_000, None, "f32"),
    ("gpt_neox", 50_432, Some(50_277), "f16"),
    ("smollm2", 49_152, None, "f32"),
];

/// Around vectors and blocks.
const WIDTHS: &[usize] = &[1, 2, 3, 7, 16, 17, 33, 64, 127, 511, 512, 513, 769, 1025, 2500];

/// Every order and place, and every dtype of the result.
const FLAGS: &[&[&str]] = &[
    &[],
    &["order=joint", "index_dtype=i32"],
    &["temperature_at=after_filters", "index_dtype=u32"],
    &["order=joint", "temperature_at=after_filters"],
];

/// Periods without a common divisor, so that rows meet in every combination.
const TOP_K: &[i64] = &[0, 1, 5, -1, 40, 2, 1 << 20];
const TOP_P: ValueAt = |_, row| [1.0, 0.9, 0.5, 0.0, 0.999][row % 5];
const TEMPERATURE: ValueAt = |_, row| [1.0, 0.7, 0.0, 1.5][row % 4];
const SEED: ValueAt = |_, row| (row * 0x9e37_79b9 + 12_345) as f64;
const OFFSET: ValueAt = |_, row| ((row % 3) << 33 | row) as f64;

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = TopKTopPSampling;

    fn cases(&self, _: &SuiteArguments) -> Vec<Case<TopKTopPSampling>> {
        [models(), widths(), ends(), ties(), broken(), layouts(), faults()].concat()
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<TopKTopPSampling>> {
        let sizes = [
            (1, 49_152, "f32", Tier::Smoke),
            (1, 128_256, "bf16", Tier::Default),
            (64, 128_256, "bf16", Tier::Default),
        ];
        let timed = |(tokens, width, dtype, tier)| {
            let case = case(&format!("t{tokens}_v{width}_{dtype}"), width, dtype, &[], tokens)?;
            let case = case.tier(tier).judged_by(core_matrix::JUDGED_OF_RANKED);
            Some(case.fill("top_k", Fill::Constant(40.0)).fill("top_p", Fill::Constant(0.9)))
        };
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        ["vocab_size=300", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn fill(&self, argument: &str) -> Fill {
        match argument {
            "logits" => Fill::about(0.0, 2.0),
            "top_k" => Fill::Cycle(TOP_K),
            "top_p" => Fill::Function(TOP_P),
            "temperature" => Fill::Function(TEMPERATURE),
            "seeds" => Fill::Function(SEED),
            "offsets" => Fill::Function(OFFSET),
            _ => Fill::STANDARD,
        }
    }

    fn accumulation_length(&self, _: &Case<TopKTopPSampling>) -> usize {
        1
    }

    fn tolerance(&self, _: &Case<TopKTopPSampling>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        Tolerance::of(Computation::Exact, dtype)
    }
}

fn case(label: &str, width: usize, dtype: &str, facts: &[&str], tokens: usize) -> Option<Case<TopKTopPSampling>> {
    let mut all = vec![format!("vocab_size={width}"), format!("dtype={dtype}")];
    all.extend(facts.iter().map(|f| (*f).to_owned()));
    let problem = <TopKTopPSampling as opweave_contract::Operator>::problem_from(&all).ok()?;
    Some(Case::new(label, problem, &[tokens]))
}

fn label(tokens: usize, width: usize, dtype: &str, facts: &[&str], word: &str) -> String {
    let facts = facts.iter().map(|fact| format!("_{}", fact.replace('=', "_"))).collect::<String>();
    format!("t{tokens}_v{width}_{dtype}{facts}{word}")
}

/// Every dtype and flag on rows of one kind.
fn all(tokens: usize, width: usize, word: &str) -> Vec<Case<TopKTopPSampling>> {
    let each = DTYPES.into_iter().flat_map(|dtype| FLAGS.iter().map(move |facts| (dtype, *facts)));
    let of =
        |(dtype, facts): (&str, &[&str])| case(&label(tokens, width, dtype, facts, word), width, dtype, facts, tokens);
    each.filter_map(of).collect()
}

/// One row of a model's width, as decode has it, and a few.
fn models() -> Vec<Case<TopKTopPSampling>> {
    let mut cases = Vec::new();
    for (place, &(name, width, valid, dtype)) in MODELS.iter().enumerate() {
        let valid = valid.map(|valid| format!("valid_size={valid}"));
        let facts: Vec<&str> =
            valid.iter().map(String::as_str).chain(FLAGS[place % FLAGS.len()].iter().copied()).collect();
        for (tokens, tier) in [(1, Tier::Default), (9, Tier::Full)] {
            let case = case(&format!("{name}_t{tokens}_v{width}_{dtype}"), width, dtype, &facts, tokens);
            // Nearly even: the token that is drawn is anywhere.
            let even = |case: Case<TopKTopPSampling>| {
                case.fill("top_k", Fill::Constant(0.0)).fill("logits", Fill::about(0.0, 0.5))
            };
            let tier = if place == 2 { Tier::Smoke } else { tier };
            cases.extend(case.map(|case| even(case).fill("top_p", Fill::Constant(0.95)).tier(tier)));
        }
    }
    cases
}

fn widths() -> Vec<Case<TopKTopPSampling>> {
    let one = |case: Case<TopKTopPSampling>| {
        if case.problem.vocab_size == 1 { case.constant("there is one token") } else { case }
    };
    WIDTHS.iter().flat_map(|&width| all(35, width, "")).map(one).collect()
}

/// One parameter at its ends while the others do nothing; many seeds of one row's distribution.
fn ends() -> Vec<Case<TopKTopPSampling>> {
    let mut cases = Vec::new();
    for (word, k, p, t) in [
        ("_k_off", 0.0, 1.0, 1.0),
        ("_k_minus_one", -1.0, 1.0, 1.0),
        ("_k_width", 130.0, 1.0, 1.0),
        ("_k_past_the_width", 131.0, 1.0, 1.0),
        ("_k_129", 129.0, 1.0, 1.0),
        ("_k_one", 1.0, 1.0, 1.0),
        ("_p_zero", 0.0, 0.0, 1.0),
        ("_p_tiny", 0.0, 1e-30, 1.0),
        ("_p_nearly_one", 0.0, 0.999_999_94, 1.0),
        ("_t_zero", 0.0, 1.0, 0.0),
        ("_t_tiny", 0.0, 1.0, 1e-40),
        ("_t_small", 0.0, 0.9, 0.05),
        ("_t_large", 0.0, 0.9, 1e30),
    ] {
        let with = |case: Case<TopKTopPSampling>| {
            case.fill("top_k", Fill::Constant(k))
                .fill("top_p", Fill::Constant(p))
                .fill("temperature", Fill::Constant(t))
        };
        cases.extend(all(64, 130, word).into_iter().map(with));
    }
    cases
}

/// Few values, so that the last key of a filter is shared; logits that are all equal.
fn ties() -> Vec<Case<TopKTopPSampling>> {
    const FEW: ValueAt = |row, column| ((row * 5 + column * 7) % 4) as f64 * 0.75;
    const EQUAL: ValueAt = |row, column| if row % 2 == 0 { 5.0 } else { [0.0, -0.0][column % 2] };
    const HALVES: ValueAt = |_, row| [0.5, 0.25, 1.0, 0.75, 0.124][row % 5];
    let mut cases = Vec::new();
    for (word, logits) in [("_few", FEW), ("_equal", EQUAL)] {
        for width in [4, 96, 600] {
            let tied = all(35, width, word).into_iter().map(|c| c.fill("logits", Fill::Function(logits)));
            cases.extend(tied.map(|c| c.fill("top_p", Fill::Function(HALVES))));
        }
    }
    cases
}

/// NaN, infinities, and magnitudes from end to end.
fn broken() -> Vec<Case<TopKTopPSampling>> {
    const BROKEN: ValueAt = |row, column| match row % 7 {
        0 => f64::NAN,
        1 => [f64::NAN, 1.0, 0.0][column % 3],
        2 => f64::NEG_INFINITY,
        3 => [f64::INFINITY, 0.0, f64::INFINITY, f64::NAN][column % 4],
        4 => [f64::NEG_INFINITY, 2.0, f64::NAN][column % 3],
        5 => [f64::NAN, f64::NEG_INFINITY][column % 2],
        _ => [65504.0, -65504.0, 0.0][column % 3],
    };
    let mut cases = Vec::new();
    for width in [3, 150, 700] {
        cases.extend(all(35, width, "_broken").into_iter().map(|c| c.fill("logits", Fill::Function(BROKEN))));
    }
    cases.extend(all(16, 131, "_wide").into_iter().map(|c| c.grade(Grade::Wide).fill("logits", Fill::STANDARD)));
    cases.extend(all(16, 131, "_special").into_iter().map(|c| c.grade(Grade::Special).fill("logits", Fill::STANDARD)));
    cases
}

fn layouts() -> Vec<Case<TopKTopPSampling>> {
    let mut cases = all(0, 300, "");
    cases.extend(all(9, 128, "_strided").into_iter().map(|c| c.lie(7, 0)));
    cases.extend(all(9, 257, "_strided_shifted").into_iter().map(|c| c.lie(5, 3)));
    cases.extend(all(9, 128, "_shifted").into_iter().map(|c| c.lie(0, 1)));
    for dtype in DTYPES {
        // What pads a row is larger than everything, or NaN.
        const PADDED: ValueAt = |row, column| match column {
            0..131 => ((row * 37 + column * 11) % 131) as f64 / 16.0,
            _ => [f64::NAN, 1e4, f64::INFINITY][row % 3],
        };
        let padded = case(&format!("t35_v160_{dtype}_valid_131"), 160, dtype, &["valid_size=131"], 35);
        cases.extend(padded.map(|c| c.fill("logits", Fill::Function(PADDED))));
    }
    let far = case("t2_v16_bf16_stride_past_2_31", 16, "bf16", &[], 2);
    cases.extend(far.map(|c| c.lie_of("logits", (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    cases
}

/// Parameters outside their legal sets, each in rows of its own.
fn faults() -> Vec<Case<TopKTopPSampling>> {
    const P: ValueAt = |_, row| if row == 3 { f64::NAN } else { [0.9, 0.5, 1.0][row % 3] };
    const P_ABOVE: ValueAt = |_, row| if row == 5 { 1.000_000_1 } else { 0.9 };
    const P_BELOW: ValueAt = |_, row| if row == 5 { -1e-30 } else { 0.9 };
    const T: ValueAt = |_, row| [1.0, 0.8, f64::INFINITY, f64::NAN, -0.5, 1.0, 0.0][row % 7];
    let mut cases = Vec::new();
    let bent = |word: &str| all(7, 200, word);
    cases.extend(
        bent("_k_fault").into_iter().map(|c| {
            c.fill("top_k", Fill::Cycle(&[0, -2, 5, -1, i32::MIN as i64, 1, 2])).faults(TOP_K_ILLEGAL, [1, 4])
        }),
    );
    cases.extend(bent("_p_nan").into_iter().map(|c| c.fill("top_p", Fill::Function(P)).faults(TOP_P_ILLEGAL, [3])));
    cases.extend(
        bent("_p_above").into_iter().map(|c| c.fill("top_p", Fill::Function(P_ABOVE)).faults(TOP_P_ILLEGAL, [5])),
    );
    cases.extend(
        bent("_p_below").into_iter().map(|c| c.fill("top_p", Fill::Function(P_BELOW)).faults(TOP_P_ILLEGAL, [5])),
    );
    cases.extend(
        bent("_t_fault")
            .into_iter()
            .map(|c| c.fill("temperature", Fill::Function(T)).faults(TEMPERATURE_ILLEGAL, [2, 3, 4])),
    );
    cases
}
