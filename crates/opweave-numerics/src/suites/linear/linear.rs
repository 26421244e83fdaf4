// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The suite of `linear`.

use opweave_contract::ops::linear::Linear;
use opweave_reference::Arguments;
use opweave_tensor::DType;

use super::common::{
    ACTIVATIONS, ARGUMENTS, AWKWARD_OUT, DTYPES, EXCEPTIONAL, MAGNITUDES, MODELS, ROWS, case, tolerance,
};
use crate::compare::Tolerance;
use crate::config::Tier;
use crate::suite::{Case, Fill, Suite, SuiteArgument, SuiteArguments};

const FORMS: [&str; 2] = ["packed", "plain"];

/// Columns of `input` around vectors and around the length of a running sum, and primes.
const AWKWARD_IN: &[usize] = &[1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 107, 127, 128, 129, 255, 257, 769];

pub(crate) struct Cases;

impl Suite for Cases {
    type Op = Linear;

    fn arguments(&self) -> &'static [SuiteArgument] {
        ARGUMENTS
    }

    fn cases(&self, arguments: &SuiteArguments) -> Vec<Case<Linear>> {
        let named = ["tokens", "in_features", "out_features"].map(|name| arguments.integer(name));
        if named.iter().any(Option::is_some) {
            return combinations((named[1].unwrap_or(107), named[2].unwrap_or(45)), named[0].unwrap_or(5));
        }
        let mut cases = models();
        cases.extend(combinations((107, 45), 5));
        cases.extend(shapes());
        cases.extend(layouts());
        cases.extend(values());
        cases.extend(large());
        cases
    }

    fn bench_cases(&self, _: &SuiteArguments) -> Vec<Case<Linear>> {
        let sizes: [(usize, (usize, usize), &str, Tier); 9] = [
            (1, (2048, 2048), "bf16", Tier::Smoke),
            (8, (2048, 2048), "f32", Tier::Default),
            (64, (1024, 1024), "f32", Tier::Default),
            (1, (4096, 14_336), "bf16", Tier::Full),
            (1, (4096, 14_336), "f32", Tier::Full),
            (8, (4096, 14_336), "bf16", Tier::Full),
            (512, (4096, 4096), "f32", Tier::Full),
            (512, (4096, 4096), "bf16", Tier::Full),
            (512, (576, 1536), "f32", Tier::Full),
        ];
        let timed = |(tokens, (k, n), dtype, tier): (usize, (usize, usize), &str, Tier)| {
            let label = format!("t{tokens}_k{k}_n{n}_{dtype}");
            Some(case(label, (k, n), &[&format!("dtype={dtype}")], tokens)?.tier(tier).judged_by(4))
        };
        sizes.into_iter().filter_map(timed).collect()
    }

    fn base(&self) -> Vec<String> {
        ["in_features=96", "out_features=48", "dtype=bf16"].map(str::to_owned).to_vec()
    }

    fn accumulation_length(&self, case: &Case<Linear>) -> usize {
        case.problem.in_features.max(1)
    }

    fn tolerance(&self, case: &Case<Linear>, _: &str, dtype: DType, _: &Arguments) -> Tolerance {
        tolerance((case.problem.in_features, case.problem.out_features), dtype)
    }
}

/// Decoding and a short prompt, in the dtype that the model is served in and in f32.
fn models() -> Vec<Case<Linear>> {
    let mut cases = Vec::new();
    for (place, &(name, k, n, bias)) in MODELS.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (9, Tier::Default), (512, Tier::Full)] {
            let tier = if place == 4 { tier } else { tier.max(Tier::Default) };
            for dtype in ["bf16", "f32"] {
                let (own, bias_dtype) = (format!("dtype={dtype}"), format!("bias_dtype={dtype}"));
                let facts = [own.as_str(), &bias_dtype];
                let label = format!("{name}_t{tokens}_k{k}_n{n}_{dtype}");
                cases.extend(case(label, (k, n), &facts[..1 + usize::from(bias)], tokens).map(|c| c.tier(tier)));
            }
        }
    }
    cases
}

/// Every pair of dtypes of input and weight in both forms, and of bias and result; every activation in every dtype.
fn combinations((k, n): (usize, usize), tokens: usize) -> Vec<Case<Linear>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for (place, weight) in DTYPES.into_iter().enumerate() {
            for form in FORMS {
                let label = format!("t{tokens}_k{k}_n{n}_{dtype}_{weight}_{form}");
                let facts = [format!("dtype={dtype}"), format!("weight_dtype={weight}"), format!("weight_form={form}")];
                cases.extend(case(label, (k, n), &facts.each_ref().map(String::as_str), tokens));
            }
            let out = DTYPES[(place + 1) % 3];
            let label = format!("t{tokens}_k{k}_n{n}_{dtype}_{weight}_bias_to_{out}");
            let facts = [format!("dtype={dtype}"), format!("bias_dtype={weight}"), format!("output_dtype={out}")];
            cases.extend(case(label, (k, n), &facts.each_ref().map(String::as_str), tokens));
        }
        for activation in ACTIVATIONS {
            let label = format!("t{tokens}_k{k}_n{n}_{dtype}_{activation}");
            let facts = [format!("dtype={dtype}"), format!("activation={activation}"), format!("bias_dtype={dtype}")];
            cases.extend(case(label, (k, n), &facts.each_ref().map(String::as_str), tokens));
        }
    }
    cases
}

/// One dimension at a time: none, one, primes, one more and one less than what kernels are made of. Case A33.
fn shapes() -> Vec<Case<Linear>> {
    let mut cases = Vec::new();
    let mut push = |tokens: usize, k: usize, n: usize, dtype: &str, form: &str| {
        let label = format!("t{tokens}_k{k}_n{n}_{dtype}_{form}_shape");
        let facts = [format!("dtype={dtype}"), format!("weight_form={form}")];
        cases.extend(case(label, (k, n), &facts.each_ref().map(String::as_str), tokens));
    };
    for (i, &k) in AWKWARD_IN.iter().enumerate() {
        push(3, k, 35, DTYPES[i % 3], FORMS[i % 2]);
        push(14, k, 35, DTYPES[(i + 1) % 3], FORMS[(i + 1) % 2]);
    }
    for (i, &n) in AWKWARD_OUT.iter().enumerate() {
        push(1, 131, n, DTYPES[i % 3], FORMS[i % 2]);
        push(13, 131, n, DTYPES[(i + 1) % 3], FORMS[(i + 1) % 2]);
    }
    for (i, &tokens) in ROWS.iter().enumerate() {
        FORMS.iter().for_each(|form| push(tokens, 259, 67, DTYPES[i % 3], form));
    }
    // Published failures of other libraries.
    for (tokens, k, n) in [(1, 105, 107), (3, 7, 128), (9, 512, 1471)] {
        FORMS.iter().for_each(|form| push(tokens, k, n, "f16", form));
    }
    cases
}

fn layouts() -> Vec<Case<Linear>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for form in FORMS {
            for tokens in [2, 15] {
                let of = |what: &str| {
                    let facts =
                        [format!("dtype={dtype}"), format!("weight_form={form}"), format!("bias_dtype={dtype}")];
                    // Some kernels have no bias, and all of this besides.
                    let facts = &facts.each_ref().map(String::as_str)[..if tokens == 2 { 2 } else { 3 }];
                    let label = format!("t{tokens}_k77_n50_{dtype}_{form}_{what}");
                    case::<Linear>(label, (77, 50), facts, tokens)
                };
                cases.extend(of("strided").map(|c| c.lie(7, 0)));
                cases.extend(of("shifted").map(|c| c.lie(0, 1)));
                cases.extend(of("weight_strided").map(|c| c.lie_of("weight", 3, 1)));
            }
        }
        let empty = case::<Linear>(format!("t0_k64_n64_{dtype}"), (64, 64), &[&format!("dtype={dtype}")], 0);
        cases.extend(empty);
    }
    let far = |what: &str| {
        case::<Linear>(format!("t2_k16_n4_bf16_{what}"), (16, 4), &["dtype=bf16"], 2).map(|c| c.tier(Tier::Full))
    };
    cases.extend(far("input_stride").map(|c| c.lie_of("input", (1 << 31) + 8 - 16, 0)));
    cases.extend(far("out_stride").map(|c| c.lie_of("out", (1 << 31) + 8 - 4, 0)));
    cases
}

/// No columns, sums that are NaN or infinite, results of every size and in both tails of the activations.
fn values() -> Vec<Case<Linear>> {
    let mut cases = Vec::new();
    for (i, activation) in ACTIVATIONS.into_iter().enumerate() {
        for form in FORMS {
            let facts =
                ["dtype=f32", "bias_dtype=f32", &format!("activation={activation}"), &format!("weight_form={form}")];
            cases.extend(case(format!("t3_k0_n37_f32_{activation}_{form}"), (0, 37), &facts, 3));
            let exceptional = case(format!("t13_k41_n37_f32_{activation}_{form}_exceptional"), (41, 37), &facts, 13);
            cases.extend(exceptional.map(|c| c.fill("input", Fill::Function(EXCEPTIONAL))));
        }
        let facts = [format!("dtype={}", DTYPES[i % 2]), format!("activation={activation}")];
        let facts = facts.each_ref().map(String::as_str);
        let exceptional = case(format!("t6_k41_n37_16bit_{activation}_exceptional"), (41, 37), &facts, 6);
        cases.extend(exceptional.map(|c| c.fill("input", Fill::Function(EXCEPTIONAL))));
    }
    for dtype in ["f32", "bf16"] {
        let facts = format!("dtype={dtype}");
        let none = case(format!("t2_k0_n5_{dtype}_no_bias"), (0, 5), &[&facts], 2);
        cases.extend(none.map(|c| c.constant("a sum of nothing is zero")));
        for tokens in [1, 14] {
            let sizes = case(format!("t{tokens}_k300_n37_{dtype}_sizes"), (300, 37), &[&facts], tokens);
            cases.extend(sizes.map(|c| c.fill("input", Fill::Function(MAGNITUDES))));
        }
    }
    // Each column has a value of its own, which no exchange of rows or columns leaves where it is.
    let column = |row: usize, _: usize| row as f64;
    for (tokens, form) in [(1, "packed"), (14, "packed"), (14, "plain")] {
        let plain = case(
            format!("t{tokens}_k105_n107_f16_{form}_a33"),
            (105, 107),
            &["dtype=f16", "output_dtype=f32", &format!("weight_form={form}")],
            tokens,
        );
        cases.extend(
            plain.map(|c| c.fill("input", Fill::Constant(1.0)).fill("weight", Fill::Function(column)).lie(5, 1)),
        );
    }
    cases
}

/// More than 2^31 elements, in the result.
fn large() -> Option<Case<Linear>> {
    let tokens = (1 << 31) / 65_536 + 1;
    let case = case::<Linear>(format!("t{tokens}_k8_n65536_bf16_past_2_31"), (8, 65_536), &["dtype=bf16"], tokens)?;
    Some(case.sampled(8).tier(Tier::Full))
}
