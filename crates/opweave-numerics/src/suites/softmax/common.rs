// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of the family share.

use opweave_contract::Operator;
use opweave_reference::Reference;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::config::Tier;
use crate::input::Grade;
use crate::suite::{ArgumentKind, Case, Fill, SuiteArgument, SuiteArguments, ValueAt, table_tolerance};
use crate::suites::core_matrix;

/// The arguments of every suite of the family.
pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 24),
        help: "replace the cases by every dtype on this many rows",
    },
    SuiteArgument {
        name: "width",
        kind: ArgumentKind::Integer(1, 262_144),
        help: "replace the cases by every dtype on rows of this many elements",
    },
];

/// dtypes of logits and results.
const DTYPES: [(&str, &str); 5] = [("bf16", "bf16"), ("bf16", "f32"), ("f16", "f16"), ("f16", "f32"), ("f32", "f32")];

/// Widths around one element, primes, vectors, pairs of them and the blocks of sums.
const WIDTHS: &[usize] = &[1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 257, 511, 513, 769, 1025, 4097];

/// Vocabularies and expert counts of public models; case A18 names the first two for kernels that want powers of two.
const MODELS: &[(&str, usize, &str)] = &[
    ("qwen2_5_vocabulary", 151_936, "bf16"),
    ("llama3_vocabulary_and_one", 128_257, "bf16"),
    ("llama2_vocabulary", 32_000, "f16"),
    ("gemma3_vocabulary", 262_144, "bf16"),
    ("deepseek_v3_vocabulary", 129_280, "f32"),
    ("mixtral_router", 8, "f32"),
    ("qwen3_moe_router", 128, "bf16"),
];

fn case<O: Operator>(label: String, width: usize, dtypes: (&str, &str), tokens: usize) -> Option<Case<O>> {
    let facts = [format!("width={width}"), format!("dtype={}", dtypes.0), format!("out_dtype={}", dtypes.1)];
    Some(Case::new(label, O::problem_from(&facts).ok()?, &[tokens]))
}

/// The facts of a small, ordinary problem.
pub(super) fn base() -> Vec<String> {
    ["width=136", "dtype=bf16"].map(str::to_owned).to_vec()
}

/// `bf16`, or `bf16_f32` where the two differ.
fn words((from, to): (&str, &str)) -> String {
    if from == to { from.to_owned() } else { format!("{from}_{to}") }
}

/// All cases of an operator, or every dtype on the shape that the arguments name.
pub(super) fn cases<O: Operator>(arguments: &SuiteArguments) -> Vec<Case<O>> {
    let (tokens, width) = (arguments.integer("tokens"), arguments.integer("width"));
    if tokens.is_some() || width.is_some() {
        let (tokens, width) = (tokens.unwrap_or(5), width.unwrap_or(137));
        let of = |dtypes| case(format!("t{tokens}_h{width}_{}", words(dtypes)), width, dtypes, tokens);
        return DTYPES.into_iter().filter_map(of).collect();
    }
    let mut cases = published();
    for dtypes in DTYPES {
        let name = words(dtypes);
        cases.extend(WIDTHS.iter().filter_map(|&width| {
            let case = case(format!("t3_h{width}_{name}"), width, dtypes, 3);
            case.map(
                |case| if width == 1 { case.constant("the only element has all of the probability") } else { case },
            )
        }));
        cases.extend(case(format!("t0_h64_{name}"), 64, dtypes, 0));
        cases.extend(layouts(dtypes));
        cases.extend(magnitudes(dtypes));
    }
    cases.extend(shifts());
    cases.extend(offsets());
    cases
}

fn published<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (place, &(name, width, dtype)) in MODELS.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (16, Tier::Full)] {
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let case = case(format!("{name}_t{tokens}_h{width}_{dtype}"), width, (dtype, "f32"), tokens);
            cases.extend(case.map(|case| case.tier(tier)));
        }
    }
    cases
}

/// Strided rows, shifted pointers, in place, each alone and together.
fn layouts<O: Operator>(dtypes: (&str, &str)) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let of = |what: &str, width: usize| case::<O>(format!("t4_h{width}_{}_{what}", words(dtypes)), width, dtypes, 4);
    cases.extend(of("strided", 128).map(|c| c.lie(7, 0)));
    cases.extend(of("shifted", 128).map(|c| c.lie(0, 1)));
    cases.extend(of("strided_shifted", 129).map(|c| c.lie(5, 3)));
    cases.extend(of("out_strided", 65).map(|c| c.lie_of("out", 3, 1)));
    if dtypes.0 == dtypes.1 {
        cases.extend(of("in_place", 130).map(|c| c.alias("out", "input")));
        cases.extend(of("in_place_strided", 130).map(|c| c.alias("out", "input").lie(6, 1)));
    }
    cases
}

/// A number between -1 and 1 that varies along rows and columns.
fn wave(row: usize, column: usize) -> f64 {
    let step = (row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b)) as u32;
    f64::from(step.wrapping_mul(0xc2b2_ae35) >> 8) / f64::from(1_u32 << 23) - 1.0
}

/// Temperatures, logits of every size, rows partly and wholly -infinity, NaN, equal logits.
fn magnitudes<O: Operator>(dtypes: (&str, &str)) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let of = |what: &str, tokens: usize, width: usize| {
        case::<O>(format!("t{tokens}_h{width}_{}_{what}", words(dtypes)), width, dtypes, tokens)
    };
    // None whose reciprocal is short: quotients would be halves of a last place, which any error decides.
    for (what, temperature) in [("cool", 0.13), ("warm", 1.7), ("hot", 70.0), ("cold", 1e-30), ("coldest", 1e-42)] {
        cases.extend(of(what, 4, 97).map(|c| c.scalar("temperature", temperature)));
    }
    let spread: ValueAt = |row, column| wave(row, column) * [0.1, 10.0, 60.0, 100.0, 400.0, 3e4][row % 6];
    cases.extend(of("spread", 12, 97).map(|c| c.fill("input", Fill::Function(spread))));
    let masked: ValueAt = |row, column| match (row % 4, column % 3) {
        // A row of nothing else, rows of many, a row of one only, a row without.
        (0, _) | (1, 1 | 2) => f64::NEG_INFINITY,
        (2, _) if column != 40 => f64::NEG_INFINITY,
        _ => 4.0 * wave(row, column),
    };
    cases.extend(of("masked", 8, 67).map(|c| c.fill("input", Fill::Function(masked))));
    let nan: ValueAt = |row, column| match (row % 4, column) {
        (0, 66) | (1, 3) => f64::NAN,
        (2, 40) => f64::INFINITY,
        _ => 4.0 * wave(row, column),
    };
    cases.extend(of("nan", 8, 67).map(|c| c.fill("input", Fill::Function(nan))));
    cases.extend(of("special", 16, 65).map(|c| c.grade(Grade::Special)));
    cases.extend(of("wide", 8, 129).map(|c| c.grade(Grade::Wide)));
    let rows: ValueAt = |row, _| [1.0, 1e4, -1e4, 0.0, 300.0][row % 5];
    let equal = of("equal", 5, 1000).map(|c| c.fill("input", Fill::Function(rows)));
    cases.extend(equal.map(|c| c.constant("equal logits share the probability equally")));
    cases
}

/// Case A18: two equal logits of any size are half each.
fn shifts<O: Operator>() -> Vec<Case<O>> {
    let equal: ValueAt = |row, _| [1.0, 1e4, 1e8, 1e20, -1e20, 3e38][row % 6];
    let pairs = case::<O>("t6_h2_f32_a18_pairs".to_owned(), 2, ("f32", "f32"), 6);
    let pairs = pairs.map(|c| c.fill("input", Fill::Function(equal)).constant("half each"));
    let logits: ValueAt = |_, column| [1000.0, 1000.0, 0.0][column % 3];
    let triple = case::<O>("t2_h3_f32_a18_triple".to_owned(), 3, ("f32", "f32"), 2);
    pairs.into_iter().chain(triple.map(|c| c.fill("input", Fill::Function(logits)))).collect()
}

/// Offsets past 31 bits: by a row stride, and by sheer size.
fn offsets<O: Operator>() -> Vec<Case<O>> {
    let mut cases = Vec::new();
    let far = case::<O>("t2_h16_bf16_stride_past_2_31".to_owned(), 16, ("bf16", "bf16"), 2);
    cases.extend(far.map(|c| c.lie_of("input", (1 << 31) + 8 - 16, 0).tier(Tier::Full)));
    let (width, tokens) = (131_072, (1 << 14) + 1);
    let large = case::<O>(format!("t{tokens}_h{width}_bf16_past_2_31"), width, ("bf16", "bf16"), tokens);
    cases.extend(large.map(|c| c.alias("out", "input").sampled(8).tier(Tier::Full)));
    cases
}

/// Cases to time: routers, vocabularies of one and of a batch of rows, past the caches.
pub(super) fn bench_cases<O: Operator>() -> Vec<Case<O>> {
    let sizes: [(usize, usize, (&str, &str), Tier); 6] = [
        (1, 32_000, ("bf16", "f32"), Tier::Smoke),
        (16, 32_000, ("f32", "f32"), Tier::Full),
        (16, 32_000, ("bf16", "bf16"), Tier::Full),
        (4096, 128, ("bf16", "f32"), Tier::Full),
        (1024, 32_000, ("f32", "f32"), Tier::Default),
        (1024, 32_000, ("bf16", "bf16"), Tier::Full),
    ];
    let timed = |(tokens, width, dtypes, tier): (usize, usize, (&str, &str), Tier)| {
        let case = case::<O>(format!("t{tokens}_h{width}_{}", words(dtypes)), width, dtypes, tokens)?;
        Some(case.tier(tier).judged_by(core_matrix::JUDGED_OF_WIDE))
    };
    // A vocabulary: more rows than these are a gigabyte and more.
    let matrix = [1, 8, 64, 512].map(|tokens| (tokens, 128_256));
    let models = core_matrix::VOCABULARIES.map(|width| (32, width));
    let matrix = matrix.into_iter().chain(models).chain([core_matrix::AWKWARD]);
    let matrix = matrix.map(|(tokens, width)| timed((tokens, width, ("bf16", "bf16"), Tier::Full)));
    core_matrix::with(sizes.into_iter().filter_map(timed).collect(), matrix)
}

/// In f32 the table for sums: an exponent loses a few of its last places in the difference from the maximum, which is as much as the
/// whole of a small probability may be, beside the row's.
pub(super) fn tolerance<O: Reference>(case: &Case<O>, dtype: DType, length: usize) -> Tolerance {
    if dtype == DType::F32 {
        return Tolerance::of(Computation::Reduction { accumulation: DType::F32, length }, dtype);
    }
    table_tolerance(case, dtype, length)
}
