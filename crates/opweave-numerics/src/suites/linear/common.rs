// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of linear layers share.

use opweave_contract::Operator;
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::suite::{ArgumentKind, Case, SuiteArgument, ValueAt};

/// The arguments of every suite of the family.
pub(super) const ARGUMENTS: &[SuiteArgument] = &[
    SuiteArgument {
        name: "tokens",
        kind: ArgumentKind::Integer(0, 1 << 20),
        help: "replace the cases by every dtype and flag on this many rows",
    },
    SuiteArgument {
        name: "in_features",
        kind: ArgumentKind::Integer(0, 1 << 20),
        help: "replace the cases by every dtype and flag on rows of this many elements",
    },
    SuiteArgument {
        name: "out_features",
        kind: ArgumentKind::Integer(1, 1 << 20),
        help: "replace the cases by every dtype and flag with this many columns of the result",
    },
];

pub(super) const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];
pub(super) const ACTIVATIONS: [&str; 5] = ["none", "relu", "silu", "gelu", "gelu_tanh"];

/// Name, columns of `input`, columns of `out` and whether there is a bias: projections of model families, each as the shard
/// of one rank among many, since the rows of a weight are all alike.
pub(super) const MODELS: &[(&str, usize, usize, bool)] = &[
    ("llama3_8b_qkv", 4096, 48, false),
    ("qwen2_5_7b_qkv", 3584, 72, true),
    ("gemma2_2b_down", 9216, 16, false),
    ("phi3_mini_gate_up", 3072, 40, false),
    ("smollm2_135m_qkv", 576, 192, false),
    ("smollm2_135m_down", 1536, 96, false),
];

/// Columns of `out` around vectors, panels and pairs of them, and primes.
pub(super) const AWKWARD_OUT: &[usize] = &[1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 129];

/// Rows around the tiles of kernels: a few are decoding, many are a prompt.
pub(super) const ROWS: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 17, 24, 25, 97];

/// A case; the suites' own facts are legal, and a test holds that none is dropped here.
pub(super) fn case<O: Operator>(
    label: String,
    (k, n): (usize, usize),
    more: &[&str],
    tokens: usize,
) -> Option<Case<O>> {
    let mut facts = vec![format!("in_features={k}"), format!("out_features={n}")];
    facts.extend(more.iter().map(|&fact| fact.to_owned()));
    Some(Case::new(label, O::problem_from(&facts).ok()?, &[tokens]))
}

/// The terms of a sum of products cancel, so its error goes by the row. A sum in runs passes through partial sums of some times
/// the row's level before they do.
pub(super) fn tolerance((length, columns): (usize, usize), dtype: DType) -> Tolerance {
    // A row of one or two columns has no level but that of its own elements, which may be what cancelling left.
    let above = if columns <= 2 { 1024.0 } else { 6.0 };
    let table = Tolerance::of(Computation::Reduction { accumulation: DType::F32, length: length.max(1) }, dtype);
    table.loosened_by_condition(above, DType::F32, "partial sums of products stand above the sum")
}

/// Rows of which some have a NaN, an infinity, two that cancel, or nothing but zeros of both signs.
pub(super) const EXCEPTIONAL: ValueAt = |row, column| match (row % 6, column % 41) {
    (0, 3) => f64::NAN,
    (1, 5) => f64::INFINITY,
    (2, 7) => f64::INFINITY,
    (2, 9) => f64::NEG_INFINITY,
    (3, _) if column % 2 == 0 => -0.0,
    (3, _) => 0.0,
    _ => wave(row, column),
};

/// Rows of ordinary numbers, each of a magnitude of its own: the sums neither overflow nor vanish.
pub(super) const MAGNITUDES: ValueAt =
    |row, column| wave(row, column) * [1e-30, 1e-12, 1e-4, 1.0, 1e4, 1e12, 1e30][row % 7];

/// Numbers with no pattern that a tile could have, in -1..1.
pub(super) fn wave(row: usize, column: usize) -> f64 {
    let mixed =
        (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (column as u64 + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / (1_u64 << 23) as f64 - 1.0
}
