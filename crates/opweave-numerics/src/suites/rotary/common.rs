// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of the family share: positions, tables, layouts.

use opweave_contract::Operator;
use opweave_contract::ops::rotary::POSITION_OUTSIDE_THE_CACHE;

use crate::config::Tier;
use crate::input::{Grade, Spread};
use crate::suite::{ArgumentKind, Case, Fill, SuiteArgument, ValueAt};

pub(super) const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 20),
        help: "replace the cases by every mode and dtype on this many tokens",
    },
    SuiteArgument {
        name: "head_dim",
        kind: ArgumentKind::Integer(2, 1 << 16),
        help: "replace the cases by every mode and dtype on heads of this many features",
    },
];

/// Positions of the tables here.
pub(super) const POSITIONS: usize = 40;

/// Positions that no table of [`POSITIONS`] rows has, for each dtype: among them 2^32, which is 0 with its upper half cut off.
pub(super) const OUTSIDE: [(&str, &[i64]); 2] = [
    ("i32", &[-1, POSITIONS as i64, i32::MAX as i64, i32::MIN as i64]),
    ("i64", &[1 << 32, -1, POSITIONS as i64, (1 << 32) + 3, i64::MAX, i64::MIN, -(1 << 32)]),
];

/// Features of a head and how many of them are turned: heads of models, and such as fit no vector, fill a vector with one
/// more or less, or take more than one chunk of pairs.
const WIDTHS: &[(usize, usize)] = &[
    (2, 2),
    (3, 2),
    (7, 6),
    (8, 8),
    (16, 16),
    (17, 16),
    (31, 30),
    (33, 32),
    (34, 34),
    (64, 64),
    (66, 66),
    (80, 80),
    (96, 96),
    (112, 112),
    (128, 64),
    (129, 128),
    (192, 64),
    (256, 256),
    (769, 768),
    (1100, 1056),
];

/// What arguments are made of. Sines and cosines are below 1 almost surely, and no two alike, so that a wrong column shows.
pub(super) fn fill(argument: &str) -> Fill {
    match argument {
        "positions" => Fill::Integers(0, 2),
        "cos_sin_cache" => Fill::Tame(Spread { center: 0.0, scale: 0.2 }),
        "q_weight" | "k_weight" => Fill::Tame(Spread { center: 1.0, scale: 0.25 }),
        _ => Fill::STANDARD,
    }
}

/// Query heads, key heads, features, features turned.
pub(super) type Shape = (usize, usize, usize, usize);

/// The facts of a problem, `more` behind those that all have.
pub(super) fn facts((heads, keys, head_dim, rotary_dim): Shape, dtype: &str, more: &[(&str, &str)]) -> Vec<String> {
    let mut facts = vec![
        format!("num_heads={heads}"),
        format!("num_kv_heads={keys}"),
        format!("head_dim={head_dim}"),
        format!("rotary_dim={rotary_dim}"),
        format!("dtype={dtype}"),
    ];
    facts.extend(more.iter().map(|(name, value)| format!("{name}={value}")));
    facts
}

/// A case of `tokens` tokens at any of the positions.
pub(super) fn case<O: Operator>(
    label: &str,
    shape: Shape,
    dtype: &str,
    more: &[(&str, &str)],
    tokens: usize,
) -> Option<Case<O>> {
    let case = Case::new(label, O::problem_from(&facts(shape, dtype, more)).ok()?, &[tokens, POSITIONS]);
    Some(case.fill("positions", Fill::Integers(0, POSITIONS as i64 - 1)))
}

/// Decode and prefill of models, each with its style.
pub(super) fn models<O: Operator>(models: &[(&str, Shape, &str)]) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for (place, &(name, shape, style)) in models.iter().enumerate() {
        for (tokens, tier) in [(1, Tier::Smoke), (17, Tier::Default), (2048, Tier::Full)] {
            // One model is enough to see whether anything works at all.
            let tier = if place == 0 { tier } else { tier.max(Tier::Default) };
            let (heads, keys, head_dim, _) = shape;
            let label = format!("{name}_t{tokens}_h{heads}x{keys}_d{head_dim}_bf16");
            cases.extend(case(&label, shape, "bf16", &[("style", style)], tokens).map(|c| c.tier(tier)));
        }
    }
    cases
}

/// A plain case: what sets it apart, and its tokens.
type Edge<'a, O> = dyn Fn(&str, usize) -> Option<Case<O>> + 'a;

/// Heads of all widths, and edges of a small problem that has the facts `more`, in every dtype and style; `own` adds to
/// the edges what the operator alone has. `rows` are the tensors turned.
pub(super) fn dtypes_and_styles<O: Operator>(
    rows: &'static [&'static str],
    more: &[(&str, &str)],
    own: fn(&Edge<'_, O>) -> Vec<Case<O>>,
) -> Vec<Case<O>> {
    let mut cases = Vec::new();
    for dtype in DTYPES {
        for style in ["neox", "interleaved"] {
            for &(head_dim, rotary_dim) in WIDTHS {
                let label = format!("t3_h2x1_d{head_dim}_r{rotary_dim}_{dtype}_{style}");
                cases.extend(case(&label, (2, 1, head_dim, rotary_dim), dtype, &[("style", style)], 3));
            }
            let of = |what: &str, tokens: usize| {
                let label = format!("t{tokens}_h3x2_d20_{dtype}_{style}_{what}");
                case(&label, (3, 2, 20, 18), dtype, &[&[("style", style)], more].concat(), tokens)
            };
            cases.extend(edges(dtype, rows, of));
            cases.extend(own(&of));
        }
    }
    cases
}

/// Features turned where a suite's argument gives those of a head: all, or all but a few.
pub(super) const fn turned(head_dim: usize) -> usize {
    head_dim - head_dim % 2 - if head_dim > 8 { 4 } else { 0 }
}

/// The same case with every third position one that the table does not have.
pub(super) fn outside<O: Operator>(case: Case<O>, positions: &'static [i64]) -> Case<O> {
    let high = POSITIONS as i64 - 1;
    let rows: Vec<u64> = (3..=case.dims[0]).step_by(3).map(|end| end as u64 - 1).collect();
    let case = case.fill("positions", Fill::Strewn { low: 0, high, every: 3, outside: positions });
    if rows.is_empty() { case } else { case.faults(POSITION_OUTSIDE_THE_CACHE, rows) }
}

/// Layouts, magnitudes and edges of a small problem, `of(what, tokens)` being a plain case; `rows` are the tensors turned.
fn edges<O: Operator>(
    dtype: &str,
    rows: &'static [&'static str],
    of: impl Fn(&str, usize) -> Option<Case<O>>,
) -> Vec<Case<O>> {
    let mut cases: Vec<Case<O>> = Vec::new();
    cases.extend(of("no_tokens", 0));
    cases.extend(of("strided", 4).map(|c| c.lie(7, 0)));
    cases.extend(of("shifted", 4).map(|c| c.lie(0, 1)));
    cases.extend(of("strided_shifted", 4).map(|c| c.lie(5, 3).inner_gap(3)));
    cases.extend(of("table_strided", 4).map(|c| c.lie_of("cos_sin_cache", 5, 1)));
    for (label, grade) in [("wide", Grade::Wide), ("special", Grade::Special), ("uniform", Grade::Uniform)] {
        cases.extend(of(label, 16).map(|c| c.grade(grade)));
    }
    let (huge, tiny): (ValueAt, ValueAt) = match dtype {
        "f16" => (|r, c| 6e4 * wave(r, c), |r, c| 1e-6 * wave(r, c)),
        _ => (|r, c| 3e38 * wave(r, c), |r, c| 1e-36 * wave(r, c)),
    };
    for (label, value) in [("huge", huge), ("tiny", tiny)] {
        cases.extend(of(label, 4).map(|c| rows.iter().fold(c, |c, name| c.fill(name, Fill::Function(value)))));
    }
    // Every token is left alone; then a table without rows.
    cases.extend(of("all_outside", 3).map(|c| {
        c.fill("positions", Fill::Cycle(&[-1, POSITIONS as i64, 99])).faults(POSITION_OUTSIDE_THE_CACHE, 0..3)
    }));
    cases.extend(of("no_table", 2).map(|c| {
        let c = Case { dims: vec![2, 0], ..c };
        c.fill("positions", Fill::Cycle(&[0, 5])).faults(POSITION_OUTSIDE_THE_CACHE, 0..2)
    }));
    cases
}

/// Tokens 2^31 elements apart.
pub(super) fn far<O: Operator>(case: Option<Case<O>>, tensor: &'static str, width: usize) -> Option<Case<O>> {
    case.map(|c| c.lie_of(tensor, (1 << 31) + 8 - width, 0).tier(Tier::Full))
}

/// A number between -1 and 1 that varies along rows and columns.
fn wave(row: usize, column: usize) -> f64 {
    let step = (row.wrapping_mul(0x9e37_79b9) ^ column.wrapping_mul(0x85eb_ca6b)) as u32;
    f64::from(step.wrapping_mul(0xc2b2_ae35) >> 8) / f64::from(1_u32 << 23) - 1.0
}
