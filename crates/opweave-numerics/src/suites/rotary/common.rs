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
pub(super) const WIDTHS: &[(usize, usize)] = &[
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

/// A case of `tokens` tokens at any of the positions.
pub(super) fn case<O: Operator>(label: &str, facts: &[String], tokens: usize) -> Option<Case<O>> {
    let case = Case::new(label, O::problem_from(facts).ok()?, &[tokens, POSITIONS]);
    Some(case.fill("positions", Fill::Integers(0, POSITIONS as i64 - 1)))
}

/// The same case with every third position one that the table does not have.
pub(super) fn outside<O: Operator>(case: Case<O>, positions: &'static [i64]) -> Case<O> {
    let high = POSITIONS as i64 - 1;
    let rows: Vec<u64> = (3..=case.dims[0]).step_by(3).map(|end| end as u64 - 1).collect();
    let case = case.fill("positions", Fill::Strewn { low: 0, high, every: 3, outside: positions });
    if rows.is_empty() { case } else { case.faults(POSITION_OUTSIDE_THE_CACHE, rows) }
}

/// Layouts, magnitudes and edges of a small problem, `of(what, tokens)` being a plain case; `rows` are the tensors turned.
pub(super) fn edges<O: Operator>(
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
