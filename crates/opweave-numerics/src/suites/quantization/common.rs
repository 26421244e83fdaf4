// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of the family share. Codes and scales are held to be exact: every step is an IEEE operation.

use opweave_contract::Operator;
use opweave_tensor::DType;

use crate::codec;
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{ArgumentKind, Case, Fill, SuiteArgument, SuiteArguments, ValueAt};
use crate::suites::core_matrix;

/// The arguments of every suite of the family.
pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 24),
        help: "replace the cases by every dtype and flag on this many rows",
    },
    SuiteArgument {
        name: "hidden_size",
        kind: ArgumentKind::Integer(1, 1 << 24),
        help: "replace the cases by every dtype and flag on rows of this many elements",
    },
];

/// The dtypes of activations, by name.
pub(super) const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Inputs of linear layers of public models: the hidden size, and what the down projection reads.
const MODELS: &[(&str, usize, &str, &str)] = &[
    ("llama3_8b", 4096, "bf16", "f8e4m3"),
    ("llama3_8b_down", 14336, "bf16", "f8e4m3"),
    ("qwen2_5_7b", 3584, "bf16", "i8"),
    ("qwen2_5_7b_down", 18944, "bf16", "i8"),
    ("mistral_7b", 4096, "f16", "i8"),
    ("deepseek_v3", 7168, "bf16", "f8e4m3"),
    ("deepseek_v3_latent", 1536, "bf16", "f8e4m3"),
    ("gemma2_9b", 3584, "bf16", "f8e4m3"),
    ("smollm2_135m", 576, "bf16", "f8e5m2"),
];

/// Widths around one element, primes, and one more and one less than vectors, cache lines of codes and blocks.
const WIDTHS: &[usize] = &[
    1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 129, 255, 257, 511, 513, 769, 1000, 1025, 2047,
    3001, 4097,
];

/// A case from facts that are written here; a test holds that none is illegal and lost.
pub(super) fn case<O: Operator>(label: String, facts: &[&str], tokens: usize, width: usize) -> Option<Case<O>> {
    let mut all = vec![format!("hidden_size={width}")];
    all.extend(facts.iter().map(|f| (*f).to_owned()));
    Some(Case::new(label, O::problem_from(&all).ok()?, &[tokens]))
}

/// The cases that all operators of the family have. `flags` are the sets of facts that differ from dtype to dtype of codes,
/// each with its word.
pub(super) fn cases<O: Operator>(
    flags: &[(&str, &[&str])],
    arguments: &SuiteArguments,
    own: impl IntoIterator<Item = Case<O>>,
) -> Vec<Case<O>> {
    let (tokens, width) = (arguments.integer("tokens"), arguments.integer("hidden_size"));
    let combined = combinations(flags, tokens.unwrap_or(5), width.unwrap_or(136));
    if tokens.is_some() || width.is_some() {
        return combined;
    }
    let mut cases = models();
    cases.extend(combined.into_iter().map(graded));
    // Every width with one kind of codes, every kind with a third of the widths.
    for (at, &width) in WIDTHS.iter().enumerate() {
        for (place, dtype) in DTYPES.iter().enumerate() {
            let (word, facts) = flags[(at + place) % flags.len()];
            let case = of(&format!("t3_h{width}_{dtype}_{word}"), dtype, facts, 3, width).map(graded);
            let single = "a row of one element has the largest code";
            cases.extend(case.map(|case| if width == 1 { case.constant(single) } else { case }));
        }
    }
    for dtype in DTYPES {
        for &(word, facts) in flags {
            cases.extend(of(&format!("t0_h64_{dtype}_{word}"), dtype, facts, 0, 64));
        }
        let (word, facts) = flags[0];
        let layout = |label: &str, width| of(&format!("t4_h{width}_{dtype}_{word}_{label}"), dtype, facts, 4, width);
        cases.extend(layout("strided", 128).map(|c: Case<O>| c.lie(7, 0)));
        cases.extend(layout("strided_wide", 96).map(|c| c.lie(4096, 0)));
        cases.extend(layout("shifted", 128).map(|c| c.lie(0, 1)));
        cases.extend(layout("strided_shifted", 257).map(|c| c.lie(5, 3)));
        cases.extend(layout("input_shifted", 192).map(|c| c.lie_of("input", 0, 1)));
        cases.extend(layout("out_strided", 130).map(|c| c.lie_of("out", 3, 1)));
    }
    for dtype in DTYPES {
        for &(word, facts) in flags {
            let of = |label: &str| of(&format!("t16_h129_{dtype}_{word}_{label}"), dtype, facts, 16, 129);
            cases.extend(of("special").map(|c: Case<O>| c.grade(Grade::Special)));
            cases.extend(of("wide").map(|c| c.grade(Grade::Wide)));
        }
    }
    cases.extend(offsets());
    cases.extend(own);
    cases
}

/// A case of `dtype` and more facts.
pub(super) fn of<O: Operator>(
    label: &str,
    dtype: &str,
    facts: &[&str],
    tokens: usize,
    width: usize,
) -> Option<Case<O>> {
    let dtype = format!("dtype={dtype}");
    let facts: Vec<&str> = std::iter::once(dtype.as_str()).chain(facts.iter().copied()).collect();
    case(label.to_owned(), &facts, tokens, width)
}

/// Rows whose magnitudes lie a factor of ten apart, so that no two have one scale.
pub(super) const GRADES: ValueAt = |row, column| {
    let step = (row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b)) as u32;
    let wave = f64::from(step.wrapping_mul(0xc2b2_ae35) >> 8) / f64::from(1_u32 << 23) - 1.0;
    wave * 10_f64.powi(row as i32 % 5 - 1)
};

/// A case whose scales are powers of two, with rows that do not all have the same.
fn graded<O: Operator>(case: Case<O>) -> Case<O> {
    if case.label.contains("power") { case.fill("input", Fill::Function(GRADES)) } else { case }
}

/// Decode and prefill of every model.
fn models<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (place, (name, width, dtype, codes)) in MODELS.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (7, Tier::Default), (48, Tier::Default), (2048, Tier::Full)] {
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let label = format!("{name}_t{tokens}_h{width}_{dtype}_{codes}");
            let codes = format!("output_dtype={codes}");
            cases.extend(of(&label, dtype, &[&codes], tokens, *width).map(|case| case.tier(tier)));
        }
    }
    cases
}

fn combinations<O: Operator>(flags: &[(&str, &[&str])], tokens: usize, width: usize) -> Vec<Case<O>> {
    let all = DTYPES.iter().flat_map(|dtype| flags.iter().map(move |flag| (dtype, flag)));
    all.filter_map(|(dtype, (word, facts))| {
        of(&format!("t{tokens}_h{width}_{dtype}_{word}"), dtype, facts, tokens, width)
    })
    .collect()
}

/// Offsets past 31 and 32 bits: by a row stride, and by sheer size.
fn offsets<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for tensor in ["input", "out"] {
        // Two rows, 2^31 + 8 elements apart, in memory that is never touched in between.
        let far = of(&format!("t2_h16_bf16_{tensor}_stride_past_2_31"), "bf16", &[], 2, 16);
        cases.extend(far.map(|c: Case<O>| c.lie_of(tensor, (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    }
    let (tokens, width) = ((1 << 31) / 4096 + 1, 4096);
    let large = of(&format!("t{tokens}_h{width}_bf16_past_2_31"), "bf16", &[], tokens, width);
    cases.extend(large.map(|c: Case<O>| c.sampled(64).tier(Tier::Full)));
    cases
}

/// Every f16 or bf16 once, in 256 rows of 256.
pub(super) fn every_value(dtype: &str) -> Fill {
    let value: ValueAt = match dtype {
        "f16" => |row, column| codec::decode(DType::F16, (row << 8 | column) as u64),
        _ => |row, column| codec::decode(DType::BF16, (row << 8 | column) as u64),
    };
    Fill::Function(value)
}

/// Cases to time: single rows and small batches in cache, prefill in and past it.
pub(super) fn bench_cases<O: Operator>() -> Vec<Case<O>> {
    let sizes: [(usize, usize, &str, &str, Tier); 8] = [
        (1, 4096, "bf16", "f8e4m3", Tier::Smoke),
        (16, 4096, "bf16", "f8e4m3", Tier::Full),
        (16, 4096, "bf16", "i8", Tier::Full),
        (64, 14336, "bf16", "f8e4m3", Tier::Full),
        (8192, 4096, "bf16", "f8e4m3", Tier::Default),
        (8192, 4096, "bf16", "i8", Tier::Default),
        (8192, 4096, "f16", "f8e4m3", Tier::Full),
        (4096, 4096, "f32", "f8e4m3", Tier::Full),
    ];
    let timed = |(tokens, width, dtype, codes, tier): (usize, usize, &str, &str, Tier)| {
        let label = format!("t{tokens}_h{width}_{dtype}_{codes}");
        Some(
            of(&label, dtype, &[&format!("output_dtype={codes}")], tokens, width)?
                .tier(tier)
                .judged_by(core_matrix::JUDGED),
        )
    };
    let matrix = core_matrix::TOKENS.into_iter().flat_map(|tokens| [4096, 8192].map(|width| (tokens, width)));
    let matrix = matrix
        .chain(core_matrix::of_models(&core_matrix::HIDDEN))
        .map(|(tokens, width)| timed((tokens, width, "bf16", "f8e4m3", Tier::Full)));
    core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
}
