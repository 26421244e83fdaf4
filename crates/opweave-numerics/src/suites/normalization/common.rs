// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of the family share: rows of `hidden_size` elements, `tokens` of them.
//!
//! The cases of every operator come in the same groups: shapes of public models, every combination of modes, flags and
//! dtypes on a small odd shape, widths around vector and tile sizes, no rows, strided and shifted tensors, outputs in the
//! memory of an input, magnitudes at both ends, special values, and sizes past 32-bit offsets.

use opweave_contract::{FactParam, FactValue, Legal, Operator, Signature};
use opweave_reference::{Arguments, Reference};
use opweave_tensor::DType;

use crate::compare::Tolerance;
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{
    ArgumentKind, Axis, Case, Fill, SuiteArgument, SuiteArguments, ValueAt, table_tolerance, tensor_suite,
};
use crate::suites::core_matrix;

/// The arguments of every suite of the family.
pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 24),
        help: "replace the cases by every mode and dtype on this many rows",
    },
    SuiteArgument {
        name: "hidden_size",
        kind: ArgumentKind::Integer(1, 1 << 24),
        help: "replace the cases by every mode and dtype on rows of this many elements",
    },
];

/// The dtypes of activations, by name.
pub(super) const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Rows and width of the shape on which every combination is tried: odd rows, and a width that is a multiple of 8 (for
/// groups) and of no tile.
const SMALL: (usize, usize) = (5, 136);

/// Widths around one element, primes, and one more and one less than vectors and tiles.
const WIDTHS: &[usize] = &[
    1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 96, 127, 129, 255, 257, 511, 513, 769, 1000, 1023, 1025, 2047,
    3001, 4097,
];

/// A public model's rows: what decodes and prefills.
pub(super) struct Model {
    /// Its name as it stands in labels.
    pub(super) name: &'static str,
    /// Elements of a row.
    pub(super) hidden_size: usize,
    /// The dtype that it is published in.
    pub(super) dtype: &'static str,
    /// Facts that its code sets, beyond those.
    pub(super) facts: &'static [&'static str],
    /// Its epsilon.
    pub(super) epsilon: f64,
    /// Rows for each token: 1, or the heads of a norm that works on heads.
    pub(super) rows: usize,
}

/// How an operator differs from its siblings.
pub(super) struct Shape {
    /// Models that use it.
    pub(super) models: &'static [Model],
    /// Outputs that may lie in the memory of an input.
    pub(super) alias: Option<(&'static str, &'static str)>,
    /// Why rows of one element may give equal numbers.
    pub(super) single: &'static str,
    /// What rows of zeros without epsilon give, if that is all one number.
    pub(super) zero_rows: Option<&'static str>,
    /// Whether a row that is the same number everywhere is well conditioned.
    pub(super) flat_rows: Option<&'static str>,
    /// A mode beside the usual one, as a word of labels and its facts: of some implementations it is the only one, so that no
    /// rows, odd widths and layouts are tried in it too.
    pub(super) other: Option<(&'static str, &'static [&'static str])>,
}

/// The facts of a small, ordinary problem.
pub(super) fn base() -> Vec<String> {
    vec![format!("hidden_size={}", SMALL.1), "dtype=bf16".to_owned()]
}

/// A case of operator `O` from facts. The suites' own facts are legal; a test holds that none is dropped here.
pub(super) fn case<O: Operator>(label: String, facts: &[String], tokens: usize) -> Option<Case<O>> {
    Some(Case::new(label, O::problem_from(facts).ok()?, &[tokens]))
}

/// Facts of a width and dtype.
pub(super) fn facts(hidden_size: usize, dtype: &str) -> Vec<String> {
    vec![format!("hidden_size={hidden_size}"), format!("dtype={dtype}")]
}

/// The same with the promise that parameters are constant, of those that the operator has.
fn with_constant_parameters<O: Operator>(mut facts: Vec<String>) -> Vec<String> {
    let parameters = ["weight", "bias"].iter().filter(|name| O::signature().tensor(name).is_some());
    facts.extend(parameters.map(|name| format!("{name}.constant=true")));
    facts
}

/// All cases of an operator: the family's and its own, or every mode and dtype on the shape that the arguments name.
pub(super) fn cases<O: Operator>(
    shape: &Shape,
    arguments: &SuiteArguments,
    own: impl IntoIterator<Item = Case<O>>,
) -> Vec<Case<O>> {
    let (tokens, hidden_size) = (arguments.integer("tokens"), arguments.integer("hidden_size"));
    if tokens.is_some() || hidden_size.is_some() {
        return combinations(tokens.unwrap_or(SMALL.0), hidden_size.unwrap_or(SMALL.1));
    }
    let mut cases = models(shape);
    cases.extend(combinations(SMALL.0, SMALL.1));
    cases.extend(widths(shape));
    cases.extend(DTYPES.iter().filter_map(|dtype| case(format!("t0_h64_{dtype}"), &facts(64, dtype), 0)));
    cases.extend(layouts(shape, None));
    cases.extend(again(shape));
    cases.extend(magnitudes(shape));
    cases.extend(offsets(shape));
    cases.extend(own);
    cases
}

/// Decode and prefill of every model.
fn models<O: Operator>(shape: &Shape) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (place, model) in shape.models.iter().enumerate() {
        let Model { name, hidden_size, dtype, .. } = model;
        let mut facts = facts(*hidden_size, dtype);
        facts.extend(model.facts.iter().map(|f| (*f).to_owned()));
        for (tokens, tier) in [(1, Tier::Smoke), (7, Tier::Default), (48, Tier::Default), (2048, Tier::Full)] {
            // One model is enough to see whether anything works at all.
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let rows = tokens * model.rows;
            let case = case(format!("{name}_t{rows}_h{hidden_size}_{dtype}"), &facts, rows);
            cases.extend(case.map(|case| case.tier(tier).scalar("epsilon", model.epsilon)));
        }
    }
    cases
}

/// The values of a fact that are tried: a closed set, or the dtypes of a tensor of its own.
fn values(fact: &FactParam, dtype: &str) -> Vec<(String, String)> {
    let closed = (fact.values)();
    if !closed.is_empty() {
        let default = fact.default.map(str::to_owned);
        let place = |value: &FactValue| {
            let text = value.to_string();
            // The default says nothing: `Sum::Unrounded` is written `unrounded` in a problem.
            let plain = default.as_ref().and_then(|d| d.rsplit("::").next()).map(|d| d.to_lowercase());
            if plain == Some(text.replace('_', "")) { String::new() } else { text }
        };
        return closed.iter().map(|value| (value.to_string(), place(value))).collect();
    }
    match (fact.name.strip_suffix("_dtype"), fact.legal) {
        // Codes, of which the first is the default.
        (Some("output"), Legal::DTypes(codes)) => {
            let place = |at: usize, name: &str| if at == 0 { String::new() } else { name.to_owned() };
            codes.iter().enumerate().map(|(at, d)| (d.name().to_owned(), place(at, d.name()))).collect()
        }
        (Some(tensor), Legal::DTypes(_)) => {
            let mut all = vec![(dtype.to_owned(), String::new())];
            if dtype != "f32" {
                all.push(("f32".to_owned(), format!("{tensor}_f32")));
            }
            if (fact.type_legal)().contains("none") {
                all.push(("none".to_owned(), format!("{tensor}_none")));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// Facts whose values are combined: all that are closed sets or dtypes of a parameter.
pub(super) fn axes(signature: &Signature, dtype: &str) -> Vec<Axis> {
    let axis = |fact: &FactParam| {
        let values = values(fact, dtype);
        let values: Vec<(&str, &str)> = values.iter().map(|(v, p)| (v.as_str(), p.as_str())).collect();
        Axis::named(fact.name, &values)
    };
    signature.facts.iter().filter(|fact| !values(fact, dtype).is_empty()).map(axis).collect()
}

/// Every combination of modes, flags and dtypes on one shape.
fn combinations<O: Operator>(tokens: usize, hidden_size: usize) -> Vec<Case<O>> {
    let part = format!("t{tokens}");
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let mut axes_here = vec![Axis::sizes("hidden_size", "h", &[hidden_size]), Axis::new("dtype", &[dtype])];
        axes_here.extend(axes(O::signature(), dtype));
        cases.extend(tensor_suite(&[(&part, &[tokens])], &axes_here).unwrap_or_default());
    }
    cases
}

fn widths<O: Operator>(shape: &Shape) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for &width in WIDTHS {
        for dtype in DTYPES {
            let case = case(format!("t3_h{width}_{dtype}"), &facts(width, dtype), 3);
            cases.extend(case.map(|case| if width == 1 { case.constant(shape.single) } else { case }));
        }
    }
    cases
}

/// No rows, odd widths and layouts once more, in the other mode.
fn again<O: Operator>(shape: &Shape) -> Vec<Case<O>> {
    let Some((word, mode)) = shape.other else { return Vec::new() };
    let mut cases = layouts(shape, Some((word, mode)));
    for dtype in DTYPES {
        let of = |tokens: usize, width: usize| {
            case(format!("t{tokens}_h{width}_{dtype}_{word}"), &with_mode(facts(width, dtype), mode), tokens)
        };
        cases.extend(of(0, 64));
        for width in [1, 3, 17, 33, 129, 257, 1025] {
            let case = of(3, width);
            cases.extend(case.map(|case| if width == 1 { case.constant(shape.single) } else { case }));
        }
    }
    cases
}

fn with_mode(mut facts: Vec<String>, mode: &[&str]) -> Vec<String> {
    facts.extend(mode.iter().map(|fact| (*fact).to_owned()));
    facts
}

/// Strided rows, shifted pointers, outputs in the memory of an input, each alone and together; in a mode of that name.
fn layouts<O: Operator>(shape: &Shape, mode: Option<(&str, &[&str])>) -> Vec<Case<O>> {
    let (word, mode) = mode.map_or((String::new(), &[][..]), |(word, mode)| (format!("{word}_"), mode));
    let facts = |width: usize, dtype: &str| with_mode(facts(width, dtype), mode);
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let of = |label: &str, width: usize| {
            case::<O>(format!("t4_h{width}_{dtype}_{word}{label}"), &facts(width, dtype), 4)
        };
        cases.extend(of("strided", 128).map(|c| c.lie(7, 0)));
        cases.extend(of("strided_wide", 96).map(|c| c.lie(4096, 0)));
        cases.extend(of("shifted", 128).map(|c| c.lie(0, 1)));
        cases.extend(of("shifted_3", 257).map(|c| c.lie(0, 3)));
        cases.extend(of("strided_shifted", 129).map(|c| c.lie(5, 1)));
        cases.extend(of("input_shifted", 128).map(|c| c.lie_of("input", 0, 1)));
        cases.extend(of("out_strided", 128).map(|c| c.lie_of("out", 3, 1)));
        if O::signature().tensor("residual").is_some() {
            cases.extend(of("residual_strided", 128).map(|c| c.lie_of("residual", 9, 1)));
        }
        if O::signature().tensor("weight").is_some() {
            cases.extend(of("weight_shifted", 128).map(|c| c.lie_of("weight", 0, 1)));
            let facts = with_constant_parameters::<O>(facts(128, dtype));
            cases.extend(case(format!("t4_h128_{dtype}_{word}constant_parameters"), &facts, 4));
        }
        if let Some((output, input)) = shape.alias {
            cases.extend(of("in_place", 130).map(|c| c.alias(output, input)));
            cases.extend(of("in_place_strided", 130).map(|c| c.alias(output, input).lie(6, 1)));
        }
    }
    cases
}

/// A number between -1 and 1 that varies along rows and columns: for inputs of a certain size, whatever the grade.
pub(super) fn wave(row: usize, column: usize) -> f64 {
    let step = (row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b)) as u32;
    f64::from(step.wrapping_mul(0xc2b2_ae35) >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// Magnitudes at both ends of each dtype, rows of zeros, special values, exact sums.
fn magnitudes<O: Operator>(shape: &Shape) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let of = |label: &str, tokens: usize, width: usize| {
            case::<O>(format!("t{tokens}_h{width}_{dtype}_{label}"), &facts(width, dtype), tokens)
        };
        cases.extend(of("wide", 8, 257).map(|c| c.grade(Grade::Wide)));
        cases.extend(of("special", 16, 65).map(|c| c.grade(Grade::Special)));
        cases.extend(of("exact", 8, 300).map(|c| c.grade(Grade::Exact)));
        cases.extend(of("uniform", 8, 300).map(|c| c.grade(Grade::Uniform)));
        cases.extend(of("epsilon_large", 4, 96).map(|c| c.scalar("epsilon", 0.75)));
        let (huge, tiny): (ValueAt, ValueAt) = match dtype {
            "f16" => (|r, c| 6e4 * wave(r, c), |r, c| 1e-6 * wave(r, c)),
            _ => (|r, c| 3e38 * wave(r, c), |r, c| 1e-36 * wave(r, c)),
        };
        cases.extend(of("huge", 4, 96).map(|c| c.fill("input", Fill::Function(huge))));
        cases.extend(of("tiny", 4, 96).map(|c| c.fill("input", Fill::Function(tiny))));
        if let Some(reason) = shape.zero_rows {
            let zeros = of("zeros_eps0", 3, 64).map(|c| c.fill("input", Fill::Constant(0.0)).scalar("epsilon", 0.0));
            cases.extend(zeros.map(|c| c.constant(reason)));
        }
        if let Some(reason) = shape.flat_rows {
            // Rows differ, so a write into the next row or a mean over padding shows.
            let flat = |width| of("flat", 7, width).map(|c| c.fill("input", Fill::Function(|row, _| row as f64 + 1.0)));
            let flat = |width| flat(width).map(|c| c.fill("weight", Fill::Constant(1.0)).scalar("epsilon", 0.0));
            cases.extend([769, 513, 1].into_iter().filter_map(flat).map(|c| c.constant(reason)));
        }
    }
    cases
}

/// Offsets past 31 and 32 bits: by a row stride, and by sheer size.
fn offsets<O: Operator>(shape: &Shape) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let width = 4096;
    // Two rows, 2^31 + 8 elements apart, in memory that is never touched in between.
    let far = case::<O>("t2_h16_bf16_stride_past_2_31".to_owned(), &facts(16, "bf16"), 2);
    cases.extend(far.map(|c| c.lie_of("input", (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    let far = case::<O>("t2_h16_bf16_out_stride_past_2_31".to_owned(), &facts(16, "bf16"), 2);
    cases.extend(far.map(|c| c.lie_of("out", (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    let tokens = (1 << 31) / width + 1;
    let large = case::<O>(format!("t{tokens}_h{width}_bf16_past_2_31"), &facts(width, "bf16"), tokens);
    let large = large.map(|c| c.sampled(64).tier(Tier::Full));
    cases.extend(large.map(|c| match shape.alias {
        Some((output, input)) => c.alias(output, input),
        None => c,
    }));
    cases
}

/// Cases to time: single rows and small batches in cache, prefill in and past it.
pub(super) fn bench_cases<O: Operator>() -> Vec<Case<O>> {
    let sizes: [(usize, usize, &str, Tier); 8] = [
        (1, 4096, "bf16", Tier::Smoke),
        (16, 4096, "bf16", Tier::Full),
        (16, 4096, "f32", Tier::Default),
        (64, 8192, "bf16", Tier::Full),
        (1024, 4096, "f16", Tier::Full),
        (4096, 4096, "bf16", Tier::Default),
        (4096, 4096, "f32", Tier::Full),
        (8192, 4096, "bf16", Tier::Full),
    ];
    let timed = |(tokens, width, dtype, tier): (usize, usize, &str, Tier)| {
        // As engines have them: loaded before serving.
        let facts = with_constant_parameters::<O>(facts(width, dtype));
        Some(
            case::<O>(format!("t{tokens}_h{width}_{dtype}"), &facts, tokens)?.tier(tier).judged_by(core_matrix::JUDGED),
        )
    };
    let matrix = core_matrix::TOKENS.into_iter().flat_map(|tokens| [4096, 8192].map(|width| (tokens, width)));
    let matrix = matrix
        .chain(core_matrix::of_models(&core_matrix::HIDDEN))
        .map(|(tokens, width)| timed((tokens, width, "bf16", Tier::Full)));
    core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
}

/// The table's tolerance, with what underflows before the last multiplications seen through them.
pub(super) fn tolerance<O: Reference>(case: &Case<O>, dtype: DType, length: usize, inputs: &Arguments) -> Tolerance {
    // A scale is the weight or one more than it.
    let factors = [1.0 + largest(inputs, "weight"), largest(inputs, "z").max(1.0)];
    let epsilon = inputs.scalar("epsilon").unwrap_or(0.0);
    // What is multiplied by a gate before the norm is divided by the norm, which is the root of epsilon or more.
    let norm = if inputs.get("z").is_some() && epsilon > 0.0 { epsilon.sqrt().recip() } else { 1.0 };
    table_tolerance(case, dtype, length).amplified(factors.iter().product::<f64>() * norm)
}

/// The largest finite magnitude of an argument; 0 where it is absent.
fn largest(inputs: &Arguments, name: &str) -> f64 {
    let values = inputs.get(name).map_or(&[][..], |values| &values.data);
    values.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// What parameters and activations are made of: weights about one, biases small.
pub(super) fn fill(argument: &str) -> Fill {
    match argument {
        "weight" => Fill::about(1.0, 0.25),
        "bias" => Fill::about(0.0, 0.5),
        _ => Fill::STANDARD,
    }
}
