// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of the family share.

use opweave_contract::Operator;
use opweave_reference::Reference;
use opweave_tensor::DType;

use crate::compare::Tolerance;
use crate::config::Tier;
use crate::input::{Grade, Spread};
use crate::suite::{ArgumentKind, Case, Fill, SuiteArgument, SuiteArguments, ValueAt, table_tolerance};
use crate::suites::core_matrix;

/// The arguments of every suite of the family.
pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 24),
        help: "replace the cases by every mode and dtype on this many rows",
    },
    SuiteArgument {
        name: "intermediate_size",
        kind: ArgumentKind::Integer(1, 1 << 24),
        help: "replace the cases by every mode and dtype on rows of this many elements",
    },
];

const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];
const PRODUCTS: [&str; 2] = ["f32", "rounded_activation"];
const HALVES: [&str; 2] = ["packed", "separate"];

/// Widths around one element, primes, and one more and one less than vectors and pairs of them.
const WIDTHS: &[usize] = &[1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 129, 257, 769, 1023];

/// A public model: its name, its width, its dtype.
pub(super) type Model = (&'static str, usize, &'static str);

/// A case; the suites' own facts are legal, and a test holds that none is dropped here.
fn case<O: Operator>(label: String, width: usize, dtype: &str, more: &[String], tokens: usize) -> Option<Case<O>> {
    let mut facts = vec![format!("intermediate_size={width}"), format!("dtype={dtype}")];
    facts.extend_from_slice(more);
    Some(Case::new(label, O::problem_from(&facts).ok()?, &[tokens]))
}

/// The facts of a small, ordinary problem.
pub(super) fn base() -> Vec<String> {
    ["intermediate_size=96", "dtype=bf16"].map(str::to_owned).to_vec()
}

/// All cases of an operator, or every mode and dtype on the shape that the arguments name.
pub(super) fn cases<O: Operator>(models: &[Model], arguments: &SuiteArguments) -> Vec<Case<O>> {
    let (tokens, width) = (arguments.integer("tokens"), arguments.integer("intermediate_size"));
    if tokens.is_some() || width.is_some() {
        return combinations(tokens.unwrap_or(5), width.unwrap_or(137));
    }
    let mut cases = published(models);
    cases.extend(combinations(5, 137));
    for dtype in DTYPES {
        cases.extend(WIDTHS.iter().filter_map(|&width| {
            let case = case(format!("t3_h{width}_{dtype}"), width, dtype, &[], 3);
            // Three numbers may well be equal once they are rounded.
            case.map(|case| if width == 1 { case.constant("rows of one element") } else { case })
        }));
        cases.extend(case(format!("t0_h64_{dtype}"), 64, dtype, &[], 0));
        cases.extend(layouts(dtype));
        cases.extend(again(dtype));
        cases.extend(magnitudes(dtype));
    }
    cases.extend(offsets());
    cases
}

/// Decode and prefill of every model.
fn published<O: Operator>(models: &[Model]) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (place, &(name, width, dtype)) in models.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (7, Tier::Default), (2048, Tier::Full)] {
            // One model is enough to see whether anything works at all.
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let case = case(format!("{name}_t{tokens}_h{width}_{dtype}"), width, dtype, &[], tokens);
            cases.extend(case.map(|case| case.tier(tier)));
        }
    }
    cases
}

/// Every mode, form and dtype on one shape.
fn combinations<O: Operator>(tokens: usize, width: usize) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for product in PRODUCTS {
            for halves in HALVES {
                let facts = [format!("activation_product={product}"), format!("halves={halves}")];
                let label = format!("t{tokens}_h{width}_{dtype}_{product}_{halves}");
                cases.extend(case(label, width, dtype, &facts, tokens));
            }
        }
    }
    cases
}

/// No rows and odd widths once more, where the activation is rounded: of some implementations that is the only mode.
fn again<O: Operator>(dtype: &str) -> Vec<Case<O>> {
    let rounded = ["activation_product=rounded_activation".to_owned()];
    let of = |tokens: usize, width: usize| {
        let case = case(format!("t{tokens}_h{width}_{dtype}_rounded"), width, dtype, &rounded, tokens)?;
        Some(if width == 1 { case.constant("rows of one element") } else { case })
    };
    let widths = [1, 3, 17, 33, 129, 257, 1023].into_iter().filter_map(|width| of(3, width));
    widths.chain(of(0, 64)).collect()
}

/// Strided rows and shifted pointers, each alone and together, of one tensor and of all, in both modes.
fn layouts<O: Operator>(dtype: &str) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (product, halves) in PRODUCTS.into_iter().flat_map(|product| HALVES.map(|halves| (product, halves))) {
        let facts = [format!("halves={halves}"), format!("activation_product={product}")];
        let word = if product == PRODUCTS[0] { "" } else { "rounded_" };
        let of = |what: &str, width: usize| {
            case::<O>(format!("t4_h{width}_{dtype}_{halves}_{word}{what}"), width, dtype, &facts, 4)
        };
        cases.extend(of("strided", 128).map(|c| c.lie(7, 0)));
        cases.extend(of("shifted", 128).map(|c| c.lie(0, 1)));
        cases.extend(of("strided_shifted", 129).map(|c| c.lie(5, 3)));
        cases.extend(of("out_strided", 65).map(|c| c.lie_of("out", 3, 1)));
        if halves == "separate" {
            cases.extend(of("up_strided", 65).map(|c| c.lie_of("up", 64, 1)));
        }
    }
    cases
}

/// A number between -1 and 1 that varies along rows and columns.
fn wave(row: usize, column: usize) -> f64 {
    let step = (row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b)) as u32;
    f64::from(step.wrapping_mul(0xc2b2_ae35) >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// Both tails, where an exponential overflows or nothing is left, huge and tiny numbers, NaN and infinities, in both modes.
fn magnitudes<O: Operator>(dtype: &str) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let tails: ValueAt = |row, column| wave(row, column) * [1.0, 6.0, 14.0, 30.0, 120.0, 3000.0][row % 6];
    let (huge, tiny): (ValueAt, ValueAt) = match dtype {
        // Halves of numbers below twice the least normal one would be ties that only a thousandth of a place decides.
        "f16" => (|r, c| 6e4 * wave(r, c), |r, c| 1.3e-4 * (wave(r, c) + wave(r, c).signum())),
        _ => (|r, c| 3e38 * wave(r, c), |r, c| 1e-36 * wave(r, c)),
    };
    for product in PRODUCTS {
        let facts = [format!("activation_product={product}"), "halves=separate".to_owned()];
        let of = |what: &str, tokens: usize, width: usize| {
            case::<O>(format!("t{tokens}_h{width}_{dtype}_{product}_{what}"), width, dtype, &facts, tokens)
        };
        cases.extend(of("tails", 12, 97).map(|c| c.fill("input", Fill::Function(tails))));
        cases.extend(of("special", 16, 65).map(|c| c.grade(Grade::Special).fill("up", Fill::Tame(Spread::STANDARD))));
        cases.extend(
            of("special_up", 16, 65).map(|c| c.grade(Grade::Special).fill("input", Fill::Tame(Spread::STANDARD))),
        );
        cases.extend(of("wide", 8, 129).map(|c| c.grade(Grade::Wide).fill("up", Fill::Tame(Spread::STANDARD))));
        cases.extend(of("huge", 4, 96).map(|c| c.fill("input", Fill::Function(huge))));
        cases.extend(of("tiny", 4, 96).map(|c| c.fill("input", Fill::Function(tiny))));
    }
    cases
}

/// Offsets past 31 bits: by a row stride, and by sheer size.
fn offsets<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let far = case::<O>("t2_h16_bf16_stride_past_2_31".to_owned(), 16, "bf16", &[], 2);
    cases.extend(far.map(|c| c.lie_of("input", (1 << 31) + 8 - 32, 0).tier(Tier::Full)));
    let tokens = (1 << 30) / 4096 + 1;
    let large = case::<O>(format!("t{tokens}_h4096_bf16_past_2_31"), 4096, "bf16", &[], tokens);
    cases.extend(large.map(|c| c.sampled(64).tier(Tier::Full)));
    cases
}

/// Cases to time: decode, small batches in cache, prefill in and past it.
pub(super) fn bench_cases<O: Operator>() -> Vec<Case<O>> {
    let sizes: [(usize, usize, &str, Tier); 6] = [
        (1, 14336, "bf16", Tier::Smoke),
        (16, 14336, "bf16", Tier::Full),
        (16, 14336, "f32", Tier::Full),
        (2048, 14336, "bf16", Tier::Default),
        (2048, 14336, "f16", Tier::Full),
        (2048, 14336, "f32", Tier::Full),
    ];
    let timed = |(tokens, width, dtype, tier): (usize, usize, &str, Tier)| {
        let case = case::<O>(format!("t{tokens}_h{width}_{dtype}"), width, dtype, &[], tokens)?;
        Some(case.tier(tier).judged_by(core_matrix::JUDGED_OF_WIDE))
    };
    let matrix = core_matrix::TOKENS.into_iter().map(|tokens| (tokens, 14336));
    let matrix = matrix.chain(core_matrix::of_models(&core_matrix::INTERMEDIATE));
    let matrix = matrix.map(|(tokens, width)| timed((tokens, width, "bf16", Tier::Full)));
    core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
}

/// Operands of ordinary size about zero: both sides of every activation.
pub(super) fn fill(_: &str) -> Fill {
    Fill::about(0.0, 2.0)
}

/// The table's tolerance, with what an activation loses to underflow seen through the factor.
pub(super) fn tolerance<O: Reference>(
    case: &Case<O>,
    dtype: DType,
    length: usize,
    inputs: &opweave_reference::Arguments,
) -> Tolerance {
    let largest = |name: &str| {
        let values = inputs.get(name).map_or(&[][..], |values| &values.data);
        values.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
    };
    let up = if inputs.get("up").is_some() { largest("up") } else { largest("input") };
    table_tolerance(case, dtype, length).amplified(up)
}
