// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a comparison found, as the report has it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Tolerance;
use crate::number::Number;

/// How many of the worst elements a result keeps.
pub const WORST: usize = 10;

/// One element that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Element {
    /// Index in the output, outermost dimension first.
    pub index: Vec<usize>,
    /// What the implementation wrote.
    pub actual: Number,
    /// The reference, rounded to the output's dtype.
    pub expected: Number,
    /// Numbers of the dtype between the two; none where one is NaN.
    pub ulp: Option<u64>,
    /// Whether it breaks the tolerance.
    pub failing: bool,
}

/// Counts of elements that are not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NonFinite {
    /// NaN.
    pub nan: u64,
    /// Positive infinity.
    pub positive_infinity: u64,
    /// Negative infinity.
    pub negative_infinity: u64,
}

impl NonFinite {
    pub(super) fn count(&mut self, value: f64) {
        self.nan += u64::from(value.is_nan());
        self.positive_infinity += u64::from(value == f64::INFINITY);
        self.negative_infinity += u64::from(value == f64::NEG_INFINITY);
    }
}

/// Frobenius norm of the error relative to that of the reference, over the elements that are finite on both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frobenius {
    /// Over the whole output.
    pub overall: Number,
    /// Of the worst row.
    pub worst_row: Number,
    /// Which row that is, counted over all dimensions but the last.
    pub worst_row_index: Option<usize>,
    /// Error against the unrounded reference over that of a naive kernel; none where that is not compared.
    pub against_naive: Option<Number>,
}

/// Why an output may look degenerate and still be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Every element still carries the poison pattern.
    NothingWritten,
    /// Every expected value is zero.
    ExpectedZero,
    /// Every expected value is the same.
    ExpectedConstant,
}

/// The comparison of one output with its reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeafResult {
    /// The argument.
    pub name: String,
    /// Its dtype.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// What it was held to.
    pub tolerance: Tolerance,
    /// Elements compared; fewer than the shape has where rows were sampled.
    pub elements: u64,
    /// Elements outside the tolerance.
    pub failing: u64,
    /// The same as a fraction.
    pub failing_fraction: f64,
    /// Largest absolute difference; `inf` where finite meets non-finite.
    pub max_abs: Number,
    /// Largest difference relative to the reference.
    pub max_rel: Number,
    /// Most numbers of the dtype between actual and expected where both are finite; none for integers.
    pub max_ulp: Option<u64>,
    /// Fraction of elements that equal the rounded reference.
    pub exact_fraction: f64,
    /// Norms of the error; none for integers.
    pub frobenius: Option<Frobenius>,
    /// Elements never written: they carry the pattern that filled the output before the call.
    pub unwritten: u64,
    /// Non-finite elements of the result.
    pub actual_non_finite: NonFinite,
    /// Non-finite elements of the reference.
    pub expected_non_finite: NonFinite,
    /// The worst elements, the worst first: failing ones by how far they are off, then others.
    pub worst: Vec<Element>,
    /// What was broken, in words; empty if the leaf passed.
    pub failures: Vec<String>,
    /// A reason not to trust a pass.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub doubt: Option<Doubt>,
}

impl LeafResult {
    /// Whether everything held. A doubt is not a failure; it makes the case mistrusted.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.failing == 0
    }
}
