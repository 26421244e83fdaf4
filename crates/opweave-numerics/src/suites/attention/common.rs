// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the suites of attention share: models, lengths of batches, tolerances.

use opweave_reference::{Arguments, Values};
use opweave_tensor::DType;

use crate::compare::{Computation, Tolerance};
use crate::suite::Fill;

pub(super) const DTYPES: [&str; 3] = ["bf16", "f16", "f32"];

/// Name, heads of queries and of keys, features of keys and of values, and what else distinguishes it.
type Model = (&'static str, [usize; 2], [usize; 2], &'static [&'static str]);

/// Models of several families.
pub(super) const MODELS: &[Model] = &[
    ("llama3_8b", [32, 8], [128, 128], &[]),
    ("qwen2_5_0_5b", [14, 2], [64, 64], &[]),
    ("gemma2_2b", [8, 4], [256, 256], &["soft_capped=true", "score_scale=given", "sliding_window=96"]),
    ("phi3_mini", [32, 32], [96, 96], &["sliding_window=40"]),
    ("gpt_oss_20b", [64, 8], [64, 64], &["sink_dtype=bf16", "sliding_window=128"]),
    ("smollm2_135m", [9, 3], [64, 64], &[]),
    // Its keys are longer than its values.
    ("deepseek_v2_lite_prefill", [16, 16], [192, 128], &["lse_base=e"]),
];

/// What scores are multiplied by, where a problem has it given.
pub(super) const SCALE: f64 = 0.21;

/// The bound of scores, where a problem has one.
pub(super) const CAP: f64 = 5.0;

/// Legal features of a head.
pub(super) const HEAD_DIMS: [usize; 7] = [64, 80, 96, 112, 128, 192, 256];

/// A batch of sequences: keys of each, and the same as pages of [`PAGE`] tokens.
pub(super) struct Batch {
    pub(super) name: &'static str,
    /// Keys of each sequence.
    pub(super) lens: &'static [i64],
    /// Where its pages begin in a list of all.
    pub(super) indptr: &'static [i64],
    /// Keys in its last page; anything where it has none.
    pub(super) last: &'static [i64],
    /// Where its rows begin.
    pub(super) rows: &'static [i64],
    /// Where its queries begin in a prefill: more than its keys, as many, fewer, and none.
    pub(super) queries: &'static [i64],
}

/// Tokens of a page in the batches.
pub(super) const PAGE: usize = 4;

/// Lengths around one page, with queries in every relation to them.
pub(super) const AROUND_A_PAGE: Batch = Batch {
    name: "around_a_page",
    lens: &[0, 1, 3, 4, 5, 9, 8],
    indptr: &[0, 0, 1, 2, 3, 5, 8, 10],
    last: &[77, 1, 3, 4, 1, 1, 4],
    rows: &[0, 0, 1, 4, 8, 13, 22, 30],
    queries: &[0, 2, 3, 3, 8, 11, 20, 22],
};

/// Lengths around blocks of keys that a kernel may have.
pub(super) const AROUND_BLOCKS: Batch = Batch {
    name: "around_blocks",
    lens: &[31, 64, 65, 129],
    indptr: &[0, 8, 24, 41, 74],
    last: &[3, 4, 1, 1],
    rows: &[0, 31, 95, 160, 289],
    queries: &[0, 31, 32, 97, 110],
};

/// Lengths around the parts that keys of a sequence may be cut into.
pub(super) const LONG: Batch = Batch {
    name: "long",
    lens: &[600, 1100, 513],
    indptr: &[0, 150, 425, 554],
    last: &[4, 4, 1],
    rows: &[0, 600, 1700, 2213],
    queries: &[0, 2, 3, 7],
};

/// Two of few keys and a query each, whose rows may lie far apart.
pub(super) const PAIR: Batch =
    Batch { name: "pair", lens: &[5, 3], indptr: &[0, 2, 3], last: &[1, 3], rows: &[0, 5, 8], queries: &[0, 1, 2] };

/// What lies between two rows of `elements` that begin more than 2^31 elements apart, in memory that nothing touches.
pub(super) const fn far(elements: usize) -> usize {
    (1 << 31) + 8 - elements
}

/// A batch of one.
pub(super) const ALONE: Batch =
    Batch { name: "alone", lens: &[6], indptr: &[0, 2], last: &[2], rows: &[0, 6], queries: &[0, 3] };

impl Batch {
    pub(super) const fn sequences(&self) -> usize {
        self.lens.len()
    }

    /// Pages of the longest sequence.
    pub(super) fn max_pages(&self) -> usize {
        let longest = self.lens.iter().copied().max().unwrap_or(0) as usize;
        longest.div_ceil(PAGE)
    }

    /// Pages of all sequences together.
    pub(super) fn pages(&self) -> usize {
        self.indptr.last().map_or(0, |&end| end as usize)
    }

    /// Rows of keys.
    pub(super) fn keys(&self) -> usize {
        self.rows.last().map_or(0, |&end| end as usize)
    }

    /// Queries of a prefill.
    pub(super) fn tokens(&self) -> usize {
        self.queries.last().map_or(0, |&end| end as usize)
    }
}

/// The facts of heads.
pub(super) fn heads([queries, keys]: [usize; 2], [width, width_v]: [usize; 2], dtype: &str) -> Vec<String> {
    vec![
        format!("num_heads={queries}"),
        format!("num_kv_heads={keys}"),
        format!("head_dim={width}"),
        format!("head_dim_v={width_v}"),
        format!("dtype={dtype}"),
    ]
}

/// `heads` with more facts.
pub(super) fn with(mut facts: Vec<String>, more: &[&str]) -> Vec<String> {
    facts.extend(more.iter().map(|fact| (*fact).to_owned()));
    facts
}

/// What arguments are made of where a case does not say: tables are those of three sequences of three pages.
pub(super) fn fill(argument: &str) -> Fill {
    match argument {
        "block_tables" => Fill::Integers(0, 2),
        "seq_lens" => Fill::Cycle(&[5, 0, 3]),
        "kv_indptr" => Fill::Cycle(&[0, 1, 1, 3]),
        "kv_indices" => Fill::Integers(0, 2),
        "last_page_len" => Fill::Cycle(&[1, 2, 1]),
        "cu_seqlens_q" => Fill::Cycle(&[0, 1, 2, 3]),
        "k_scale" => Fill::Function(|_, head| 0.5 + 0.25 * head as f64),
        "v_scale" => Fill::Function(|_, head| 1.5 - 0.75 * head as f64),
        _ => Fill::STANDARD,
    }
}

/// The tolerance of attention.
///
/// A score is a sum of products that cancel, and it is an exponent: what it is off in proportion to the lengths of its two
/// vectors, its term is off in proportion to itself. `keys` and `features` are those of the longest sum of each kind.
pub(super) fn tolerance(
    name: &str,
    dtype: DType,
    scale: f64,
    [keys, features]: [usize; 2],
    inputs: &Arguments,
) -> Tolerance {
    let longest = |tensor: Option<&Values>| {
        let rows = tensor.map(|t| t.data.chunks(t.shape.last().copied().unwrap_or(1).max(1)));
        let length = |row: &[f64]| row.iter().filter(|v| v.is_finite()).map(|v| v * v).sum::<f64>().sqrt();
        rows.map_or(0.0, |rows| rows.map(length).fold(0.0, f64::max))
    };
    let largest = |name| inputs.get(name).map_or(1.0, |t| t.data.iter().fold(0.0_f64, |m, v| m.max(v.abs())));
    let k = longest(inputs.get("k")).max(longest(inputs.get("k_cache")) * largest("k_scale"));
    let score = longest(inputs.get("q")) * k * scale.abs();
    let condition = 4.0 + score * (1.0 + (features as f64).sqrt() / 8.0);
    let accumulation = DType::F32;
    if name == "lse" {
        let table = Tolerance::of(Computation::Reduction { accumulation, length: keys }, dtype);
        // The error of a logarithm does not depend on how large it is.
        let underflow = condition * f64::from(f32::EPSILON);
        return Tolerance { underflow, ..table };
    }
    let table = Tolerance::of(Computation::Rounded { roundings: 1, accumulation, length: keys }, dtype);
    table.loosened_by_condition(condition, accumulation, "exponents are off in proportion to the vectors' lengths")
}
