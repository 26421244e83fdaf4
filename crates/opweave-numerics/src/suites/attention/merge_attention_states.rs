// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `merge_attention_states`.

use opweave_contract::Operator;
use opweave_contract::ops::attention::MergeAttentionStates;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{DTYPES, far};
use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::{Grade, Spread};
use crate::suite::{Case, Fill, Suite, SuiteArguments};
use crate::suites::core_matrix;

type Merge = Case<MergeAttentionStates>;

/// Name, heads, features of a value.
const MODELS: &[(&str, usize, usize)] = &[
    ("llama3_8b", 32, 128),
    ("qwen2_5_0_5b", 14, 64),
    ("gemma2_2b", 8, 256),
    ("phi3_mini", 32, 96),
    ("deepseek_v2_lite", 16, 128),
];

/// Features: around vectors of every dtype.
const WIDTHS: &[usize] = &[1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 80, 112, 257];

/// Logarithms of all kinds: empty ones, far apart ones, and such as make no sum.
fn logarithms(row: usize, column: usize) -> f64 {
    const VALUES: [f64; 11] =
        [f64::NEG_INFINITY, 0.5, -2.0, f64::INFINITY, 30.0, f64::NAN, 200.0, -1e30, f64::NEG_INFINITY, 1e30, -0.0];
    VALUES[(row + 3 * column) % VALUES.len()]
}

fn others(row: usize, column: usize) -> f64 {
    logarithms(2 * row + 5, column / 2)
}

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = MergeAttentionStates;

    fn cases(&self, _: &SuiteArguments) -> Vec<Merge> {
        let mut cases = Vec::new();
        for (place, &(name, heads, width)) in MODELS.iter().enumerate() {
            let tier = if place == 0 { Tier::Smoke } else { Tier::Default };
            cases.extend(case(name, 9, heads, width, "bf16", "e").map(|c| c.tier(tier)));
        }
        for dtype in DTYPES {
            for base in ["e", "2"] {
                for &width in WIDTHS {
                    cases.extend(case("", 5, 3, width, dtype, base));
                }
                cases.extend(edges(dtype, base));
            }
        }
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Merge> {
        let sizes = [(16, Tier::Default), (1024, Tier::Default), (8192, Tier::Full)];
        let timed = |(t, tier)| Some(case("timed", t, 32, 128, "bf16", "e")?.tier(tier).judged_by(core_matrix::JUDGED));
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        facts(2, 64, "bf16", "e")
    }

    fn fill(&self, argument: &str) -> Fill {
        match argument {
            "lse_a" | "lse_b" => Fill::about(3.0, 2.0),
            _ => Fill::STANDARD,
        }
    }

    fn accumulation_length(&self, _: &Merge) -> usize {
        2
    }

    fn tolerance(&self, case: &Merge, name: &str, dtype: DType, _: &Arguments) -> Tolerance {
        let (accumulation, length) = (DType::F32, 2);
        if name == "lse" {
            // The logarithm of the sum of two is next to 0 where both are: its error is that of the exponents.
            let table = Tolerance::of(Computation::Reduction { accumulation, length }, dtype);
            return Tolerance { underflow: 8.0 * f64::from(f32::EPSILON), ..table };
        }
        let table = Tolerance::of(Computation::Rounded { roundings: 1, accumulation, length }, dtype);
        // Terms of two signs cancel; exponents of a few units are off by as many roundings.
        let table = table.loosened_by_condition(24.0, accumulation, "two terms may cancel");
        // A row of one element has no other to be measured by.
        let underflow = if case.problem.head_dim_v == 1 { 8.0 * f64::from(f32::EPSILON) } else { table.underflow };
        Tolerance { underflow, ..table }
    }
}

fn facts(heads: usize, width: usize, dtype: &str, base: &str) -> Vec<String> {
    vec![
        format!("num_heads={heads}"),
        format!("head_dim_v={width}"),
        format!("dtype={dtype}"),
        format!("lse_base={base}"),
    ]
}

fn case(name: &str, tokens: usize, heads: usize, width: usize, dtype: &str, base: &str) -> Option<Merge> {
    let separator = if name.is_empty() { "" } else { "_" };
    let label = format!("{name}{separator}t{tokens}_h{heads}_d{width}_{dtype}_{base}");
    Some(Case::new(label, MergeAttentionStates::problem_from(&facts(heads, width, dtype, base)).ok()?, &[tokens]))
}

/// Empty states, no tokens, sharing, strides, values that are not finite.
fn edges(dtype: &str, base: &str) -> Vec<Merge> {
    let of = |what: &str| case(what, 6, 4, 72, dtype, base);
    let empty = Fill::Constant(f64::NEG_INFINITY);
    let mut cases = Vec::new();
    cases.extend(of("no_tokens").map(|c| Case { dims: vec![0], ..c }));
    cases.extend(of("a_empty").map(|c| c.fill("lse_a", empty).grade(Grade::Special)));
    cases.extend(of("b_empty").map(|c| c.fill("lse_b", empty).grade(Grade::Special)));
    let both = of("both_empty").map(|c| c.fill("lse_a", empty).fill("lse_b", empty).grade(Grade::Special));
    cases.extend(both.map(|c| c.constant("both states are empty")));
    let all = |c: Merge| c.fill("lse_a", Fill::Function(logarithms)).fill("lse_b", Fill::Function(others));
    cases.extend(of("logarithms").map(all));
    cases.extend(of("special").map(|c| all(c).grade(Grade::Special)));
    let tame = |center: f32| Fill::Tame(Spread { center, scale: 0.5 });
    cases.extend(of("wide").map(|c| c.grade(Grade::Wide).fill("lse_a", tame(1.5)).fill("lse_b", tame(1.0))));
    cases.extend(of("far_apart").map(|c| c.fill("lse_a", Fill::about(0.0, 40.0))));
    cases.extend(of("into_a").map(|c| all(c).alias("out", "v_a").alias("lse", "lse_a")));
    cases.extend(of("into_b").map(|c| all(c).alias("out", "v_b").alias("lse", "lse_b")));
    cases.extend(of("strided").map(|c| c.lie(7, 0)));
    cases.extend(of("shifted").map(|c| c.lie(0, 1)));
    cases.extend(of("strided_shifted").map(|c| c.lie(5, 3).inner_gap(3)));
    let pair = case("stride_past_2_31", 2, 4, 72, dtype, base);
    cases.extend(pair.map(|c| c.lie_of("v_a", far(4 * 72), 0).tier(Tier::Full)));
    cases
}
