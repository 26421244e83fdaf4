// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `linear_wna16`.

use opweave_contract::ops::linear::LinearWna16;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{
    ACTIVATIONS, ARGUMENTS, AWKWARD_OUT, DTYPES, EXCEPTIONAL, MAGNITUDES, MODELS, ROWS, case, tolerance, wave,
};
use crate::compare::Tolerance;
use crate::config::Tier;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments, ValueAt};

const FORMS: [&str; 2] = ["packed", "plain"];
const MODES: [&str; 2] = ["as_is", "i8_block32"];
const OFFSETS: [&str; 3] = ["none", "integer", "minimum"];

/// Formats of files: name, bits, group, dtype of scales, offset.
const FORMATS: [(&str, usize, usize, &str, &str); 6] = [
    ("q4_0", 4, 32, "f16", "none"),
    ("q4_1", 4, 32, "f16", "minimum"),
    ("q8_0", 8, 32, "f16", "none"),
    ("gptq4", 4, 128, "f16", "integer"),
    ("awq4", 4, 128, "bf16", "integer"),
    ("gptq8", 8, 64, "f32", "integer"),
];

/// Scales of either sign, none near zero.
const SCALES: ValueAt =
    |row, column| (0.02 + 0.015 * wave(row, column)) * if (row + column) % 5 == 0 { -1.0 } else { 1.0 };
/// Offsets that are codes of zero as well as minima, whatever the problem makes of them.
const INTEGERS: ValueAt = |row, column| ((row * 5 + column * 3) % 17) as f64;
/// Minima about what centres codes of 4 bits.
const MINIMA: ValueAt = |row, column| -0.15 + 0.1 * wave(row + 7, column);

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = LinearWna16;

    fn arguments(&self) -> &'static [SuiteArgument] {
        ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<LinearWna16>> {
        let named = ["tokens", "in_features", "out_features"].map(|name| arguments.integer(name));
        if named.iter().any(Option::is_some) {
            return combinations((named[1].unwrap_or(256), named[2].unwrap_or(45)), named[0].unwrap_or(3));
        }
        let mut cases = models();
        cases.extend(combinations((256, 45), 3));
        cases.extend(shapes());
        cases.extend(layouts());
        cases.extend(values());
        cases.extend(large());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<LinearWna16>> {
        let sizes: [(usize, (usize, usize), &str, Tier); 8] = [
            (1, (2048, 2048), "i8_block32", Tier::Smoke),
            (1, (2048, 2048), "as_is", Tier::Default),
            (32, (576, 1536), "i8_block32", Tier::Default),
            (1, (576, 49_152), "i8_block32", Tier::Full),
            (1, (4096, 14_336), "i8_block32", Tier::Full),
            (1, (4096, 14_336), "as_is", Tier::Full),
            (512, (576, 1536), "i8_block32", Tier::Full),
            (512, (576, 1536), "as_is", Tier::Full),
        ];
        let timed = |(tokens, (k, n), mode, tier): (usize, (usize, usize), &str, Tier)| {
            let facts = ["dtype=f32", "offset=minimum", &format!("input_mode={mode}")];
            Some(of(&format!("t{tokens}_k{k}_n{n}_q4_1_{mode}"), (k, n), &facts, tokens)?.tier(tier).judged_by(4))
        };
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        ["in_features=256", "out_features=48", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn fill(&self, argument: &str) -> Fill {
        match argument {
            "weight" => Fill::Integers(0, 255),
            "scales" => Fill::Function(SCALES),
            "offsets" => Fill::Function(INTEGERS),
            _ => Fill::STANDARD,
        }
    }

    fn accumulation_length(&self, case: &Case<LinearWna16>) -> usize {
        case.problem.in_features.max(1)
    }

    fn tolerance(&self, case: &Case<LinearWna16>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        tolerance((case.problem.in_features, case.problem.out_features), dtype)
    }
}

/// A case with offsets as the problem has them.
fn of(label: &str, shape: (usize, usize), facts: &[&str], tokens: usize) -> Option<Case<LinearWna16>> {
    let case = case(label.to_owned(), shape, facts, tokens)?;
    Some(if facts.contains(&"offset=minimum") { case.fill("offsets", Fill::Function(MINIMA)) } else { case })
}

/// Decoding and a short prompt in the formats that these models are published in, both modes.
fn models() -> Vec<Case<LinearWna16>> {
    let mut cases = Vec::new();
    for (place, &(name, k, n, bias)) in MODELS.iter().enumerate() {
        let (format, bits, group, scale, offset) = FORMATS[(place + 3) % FORMATS.len()];
        // SmolLM2's rows are no multiple of 128.
        let group = if k % group == 0 { group } else { 64 };
        for (tokens, tier) in [(1, Tier::Smoke), (9, Tier::Default), (512, Tier::Full)] {
            let tier = if place == 4 { tier } else { tier.max(Tier::Default) };
            for mode in MODES {
                let facts = [
                    "dtype=bf16".to_owned(),
                    format!("bits={bits}"),
                    format!("group_size={group}"),
                    format!("scale_dtype={scale}"),
                    format!("offset={offset}"),
                    format!("input_mode={mode}"),
                    "bias_dtype=bf16".to_owned(),
                ];
                let facts = facts.each_ref().map(String::as_str);
                let label = format!("{name}_t{tokens}_k{k}_n{n}_{format}_{mode}");
                cases.extend(of(&label, (k, n), &facts[..6 + usize::from(bias)], tokens).map(|c| c.tier(tier)));
            }
        }
    }
    cases
}

/// Every format of codes in both forms and modes; every dtype of scales, input and result, and every activation.
fn combinations((k, n): (usize, usize), tokens: usize) -> Vec<Case<LinearWna16>> {
    let mut cases = Vec::new();
    let mut place = 0;
    for bits in [4, 8] {
        for group in [32, 64, 128] {
            for offset in OFFSETS {
                for mode in MODES {
                    let form = FORMS[place % 2];
                    let (scale, dtype, out) = (DTYPES[place % 3], DTYPES[(place / 3) % 3], DTYPES[(place / 2) % 3]);
                    place += 1;
                    let facts = [
                        format!("dtype={dtype}"),
                        format!("bits={bits}"),
                        format!("group_size={group}"),
                        format!("scale_dtype={scale}"),
                        format!("offset={offset}"),
                        format!("input_mode={mode}"),
                        format!("output_dtype={out}"),
                        format!("weight_form={form}"),
                    ];
                    let facts = facts.each_ref().map(String::as_str);
                    let label =
                        format!("t{tokens}_k{k}_n{n}_w{bits}_g{group}_{scale}_{offset}_{mode}_{dtype}_to_{out}_{form}");
                    cases.extend(of(&label, (k, n), &facts, tokens));
                }
            }
        }
    }
    for dtype in DTYPES {
        for (place, activation) in ACTIVATIONS.into_iter().enumerate() {
            for mode in MODES {
                let (scale, bias) = (DTYPES[place % 3], DTYPES[(place + 1) % 3]);
                let facts = [
                    format!("dtype={dtype}"),
                    format!("scale_dtype={scale}"),
                    format!("bias_dtype={bias}"),
                    format!("activation={activation}"),
                    format!("input_mode={mode}"),
                ];
                let facts = facts.each_ref().map(String::as_str);
                let label = format!("t{tokens}_k{k}_n{n}_{dtype}_{activation}_{mode}_bias_{bias}");
                cases.extend(of(&label, (k, n), &facts, tokens));
            }
        }
    }
    cases
}

/// One dimension at a time.
fn shapes() -> Vec<Case<LinearWna16>> {
    let mut cases = Vec::new();
    let mut place = 0;
    let mut push = |tokens: usize, k: usize, n: usize, mode: &str| {
        let (bits, offset, form) = ([4, 8][place % 2], OFFSETS[place % 3], FORMS[place / 2 % 2]);
        place += 1;
        let facts = [
            "dtype=f32".to_owned(),
            format!("bits={bits}"),
            format!("offset={offset}"),
            format!("input_mode={mode}"),
            format!("weight_form={form}"),
        ];
        let facts = facts.each_ref().map(String::as_str);
        cases.extend(of(&format!("t{tokens}_k{k}_n{n}_w{bits}_{offset}_{mode}_{form}_shape"), (k, n), &facts, tokens));
    };
    for mode in MODES {
        for k in [32, 64, 96, 128, 160, 224, 288, 992] {
            push(2, k, 35, mode);
            push(14, k, 35, mode);
        }
        for &n in AWKWARD_OUT {
            push(1, 160, n, mode);
            push(13, 160, n, mode);
        }
        for &tokens in ROWS {
            push(tokens, 160, 67, mode);
        }
    }
    cases
}

fn layouts() -> Vec<Case<LinearWna16>> {
    let mut cases = Vec::new();
    for mode in MODES {
        for form in FORMS {
            for (tokens, dtype, offset) in [(2, "bf16", "minimum"), (15, "f32", "integer")] {
                let make = |what: &str| {
                    let facts = [
                        format!("dtype={dtype}"),
                        format!("offset={offset}"),
                        format!("input_mode={mode}"),
                        format!("weight_form={form}"),
                        "bias_dtype=f32".to_owned(),
                    ];
                    let facts = facts.each_ref().map(String::as_str);
                    of(&format!("t{tokens}_k96_n50_{dtype}_{offset}_{mode}_{form}_{what}"), (96, 50), &facts, tokens)
                };
                cases.extend(make("strided").map(|c| c.lie(7, 0)));
                cases.extend(make("shifted").map(|c| c.lie(0, 1)));
                cases.extend(make("weight_strided").map(|c| c.lie_of("weight", 3, 1)));
                cases.extend(make("scales_strided").map(|c| c.lie_of("scales", 5, 1).lie_of("offsets", 9, 1)));
            }
        }
        cases.extend(of(&format!("t0_k64_n64_{mode}"), (64, 64), &["dtype=bf16", &format!("input_mode={mode}")], 0));
        let far =
            of(&format!("t2_k32_n4_{mode}_input_stride"), (32, 4), &["dtype=bf16", &format!("input_mode={mode}")], 2);
        cases.extend(far.map(|c| c.lie_of("input", (1 << 31) + 8 - 32, 0).tier(Tier::Full)));
    }
    cases
}

/// No columns, exceptional numbers in input and scales, inputs of every size, blocks of zeros, codes at both ends.
fn values() -> Vec<Case<LinearWna16>> {
    let mut cases = Vec::new();
    for mode in MODES {
        for offset in OFFSETS {
            let facts = ["dtype=f32", &format!("offset={offset}"), &format!("input_mode={mode}"), "bias_dtype=f32"];
            let make = |what: &str, k: usize, tokens: usize| {
                of(&format!("t{tokens}_k{k}_n37_{offset}_{mode}_{what}"), (k, 37), &facts, tokens)
            };
            cases.extend(make("nothing", 0, 3));
            cases.extend(make("exceptional", 96, 13).map(|c| c.fill("input", Fill::Function(EXCEPTIONAL))));
            for tokens in [1, 14] {
                cases.extend(make("sizes", 160, tokens).map(|c| c.fill("input", Fill::Function(MAGNITUDES))));
            }
            let some: ValueAt = |row, column| match (row, column % 7) {
                (1, 3) => f64::NAN,
                (0, 1) => 0.0,
                _ => SCALES(row, column),
            };
            cases.extend(make("scales", 96, 4).map(|c| c.fill("scales", Fill::Function(some))));
            let infinite: ValueAt =
                |row, column| if (row, column % 7) == (2, 5) { f64::INFINITY } else { SCALES(row, column) };
            // With codes of the input the order of an infinity and its product is the kernel's.
            let infinite = make("infinite_scale", 96, 4).map(|c| c.fill("scales", Fill::Function(infinite)));
            cases.extend(infinite.filter(|_| mode == "as_is"));
            let ends = make("ends", 128, 4).map(|c| c.fill("weight", Fill::Cycle(&[0, 255, 15, 240])));
            cases.extend(ends);
            // Blocks whose scale is below the smallest number, and blocks of zeros, beside ordinary ones.
            let tiny: ValueAt = |row, column| match (row + column / 32) % 4 {
                0 => 0.0,
                1 => 1e-44 * wave(row, column),
                2 => 1e-38 * wave(row, column),
                _ => wave(row, column),
            };
            cases.extend(make("tiny", 256, 5).map(|c| c.fill("input", Fill::Function(tiny))));
        }
    }
    cases
}

/// More than 2^31 elements, in the result.
fn large() -> Option<Case<LinearWna16>> {
    let tokens = (1 << 31) / 65_536 + 1;
    let facts = ["dtype=bf16", "input_mode=i8_block32"];
    let case = of(&format!("t{tokens}_k32_n65536_past_2_31"), (32, 65_536), &facts, tokens)?;
    Some(case.sampled(8).tier(Tier::Full))
}
