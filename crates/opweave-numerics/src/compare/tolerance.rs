// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How far a result may be from the reference: one table, by contract kind, output dtype and accumulation length.

use opweave_tensor::DType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codec;

/// Fraction of elements that must equal the rounded reference after one final rounding.
const EXACT_FRACTION: f64 = 0.99;

/// What kind of computation an output is, as its contract has it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Computation {
    /// Accumulated in a wider dtype and rounded at the end, after `roundings - 1` roundings that the numerical mode puts
    /// between. `length` numbers go into the longest sum.
    Rounded {
        /// Roundings to the output's dtype on the way, the final one included; at least 1.
        roundings: u32,
        /// Dtype of the accumulation.
        accumulation: DType,
        /// Accumulation length.
        length: usize,
    },
    /// A reduction or product whose terms cancel: the error scales with the row, not with the element.
    Reduction {
        /// Dtype of the accumulation.
        accumulation: DType,
        /// Accumulation length.
        length: usize,
    },
    /// Integers, booleans, indices and bytes.
    Exact,
    /// Codes of a quantised output, which may be off by some steps.
    Steps(u32),
    /// Indices of candidates that were selected by a score, such as the k largest. `relative` is how far two scores may be
    /// apart, as a share of the larger one, for either to be taken: what the arithmetic behind them may be off. A contract
    /// that says which of two equal candidates is taken, with scores that are inputs, is [`Computation::Exact`].
    Selected {
        /// The share.
        relative: f64,
    },
}

/// What a NaN does where the reference has one too. A NaN on one side alone always fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NanPolicy {
    /// NaN where NaN is expected passes.
    #[default]
    Equal,
    /// No NaN may appear, expected or not.
    Forbid,
}

/// The rule for single elements, in words that a report can print.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// Within `max_ulp` of the rounded reference, or within `slack` times the row's rms; and a fraction of all exact.
    Rounded {
        /// The most numbers of the dtype between actual and expected.
        max_ulp: u64,
        /// The least fraction of elements that must be exact. One element of a tensor may always differ.
        exact_fraction: f64,
        /// Factor on the rms of the expected row: what the accumulation may lose to cancellation.
        slack: f64,
    },
    /// `|actual - expected| <= row * rms(expected row) + relative * |expected|`.
    Reduction {
        /// Factor on the rms of the expected row: `k * eps`.
        row: f64,
        /// Factor on the expected element.
        relative: f64,
    },
    /// Equal integers.
    Exact,
    /// At most `steps` apart: integers by value, floats by count of numbers between.
    Steps {
        /// The most steps.
        steps: u32,
    },
    /// Indices of selected candidates: another one than expected is a tie if its score is within `relative` of the expected
    /// one's, and none is taken twice.
    Selected {
        /// Factor on the larger of the two scores.
        relative: f64,
    },
}

/// Everything that one output is held to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tolerance {
    /// The rule for elements.
    #[serde(flatten)]
    pub rule: Rule,
    /// What NaN does.
    pub nan: NanPolicy,
    /// Bound on the Frobenius norm of the error over that of the expected row, for each row; none for integers.
    pub frobenius_row: Option<f64>,
    /// The same over the whole output.
    pub frobenius: Option<f64>,
    /// For dtypes of 16 bits and less: the error against the unrounded reference may be this many times the error of a
    /// naive kernel of the same precision.
    pub naive_factor: Option<f64>,
    /// Difference that underflow of intermediate values explains: a few of the accumulator's smallest numbers, times what
    /// the contract multiplies them by afterwards. Far below anything that is not itself about to underflow.
    pub underflow: f64,
    /// Why a suite loosened what the table says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loosened: Option<String>,
}

/// Multiple of the accumulator's epsilon that a sum of `length` terms may be off, relative to the sum of magnitudes.
///
/// Blocked and vectorised sums lose a few units; the errors of a plain running sum add up like a random walk, so like the
/// root of the length. The constants admit a sum by eight lanes and refuse one whose error grows with the length itself.
pub fn accumulation_factor(length: usize) -> f64 {
    4.0 + (length as f64).sqrt() / 8.0
}

impl Tolerance {
    /// The table: the tolerance of an output of `dtype` computed in the given way.
    pub fn of(computation: Computation, dtype: DType) -> Tolerance {
        let Some(format) = codec::format(dtype) else {
            let rule = match computation {
                Computation::Steps(steps) => Rule::Steps { steps },
                Computation::Selected { relative } => Rule::Selected { relative },
                _ => Rule::Exact,
            };
            return Tolerance::bare(rule);
        };
        let eps = format.epsilon();
        match computation {
            // An index is no float: nothing is a tie of it.
            Computation::Exact | Computation::Selected { .. } => Tolerance::bare(Rule::Steps { steps: 0 }),
            Computation::Steps(steps) => Tolerance::bare(Rule::Steps { steps }),
            Computation::Rounded { roundings, accumulation, length } => {
                let lost = accumulation_factor(length) * epsilon(accumulation);
                if lost >= eps {
                    // The accumulator is no wider than the output: the sum's error shows, in the elements' own scale.
                    return Tolerance { underflow: underflow(accumulation), ..Tolerance::relative(0.0, lost) };
                }
                // A flip of an inner rounding grows by at most a factor of two in a product, when its mantissa starts at
                // one and the result's nearly at two.
                let max_ulp = 1_u64 << (roundings.max(1) - 1).min(8);
                Tolerance {
                    rule: Rule::Rounded { max_ulp, exact_fraction: EXACT_FRACTION, slack: 0.0 },
                    nan: NanPolicy::Equal,
                    frobenius_row: Some(max_ulp as f64 * eps),
                    frobenius: Some(max_ulp as f64 * eps),
                    naive_factor: (dtype.bits() <= 16).then_some(2.0),
                    underflow: underflow(accumulation),
                    loosened: None,
                }
            }
            Computation::Reduction { accumulation, length } => {
                let lost = accumulation_factor(length) * epsilon(accumulation);
                Tolerance { underflow: underflow(accumulation), ..Tolerance::relative(lost, eps + lost) }
            }
        }
    }

    fn bare(rule: Rule) -> Tolerance {
        Tolerance {
            rule,
            nan: NanPolicy::Equal,
            frobenius_row: None,
            frobenius: None,
            naive_factor: None,
            underflow: 0.0,
            loosened: None,
        }
    }

    fn relative(row: f64, relative: f64) -> Tolerance {
        Tolerance {
            frobenius_row: Some(row + relative),
            // Errors of single elements do not line up over a whole output.
            frobenius: Some((row + relative) / 2.0),
            ..Tolerance::bare(Rule::Reduction { row, relative })
        }
    }

    /// The same with another NaN policy.
    #[must_use]
    pub fn with_nan(mut self, nan: NanPolicy) -> Tolerance {
        self.nan = nan;
        self
    }

    /// The same where intermediate values are multiplied by up to `factor` afterwards, so that what they lost to underflow
    /// shows that much larger.
    #[must_use]
    pub fn amplified(mut self, factor: f64) -> Tolerance {
        self.underflow *= factor.max(1.0);
        self
    }

    /// The same with room for cancellation: `condition` is how much larger the terms of the sum are than its result,
    /// relative to the row's rms, and `accumulation` what it is computed in. The report prints the reason.
    #[must_use]
    pub fn loosened_by_condition(mut self, condition: f64, accumulation: DType, reason: &str) -> Tolerance {
        let more = condition * epsilon(accumulation);
        match &mut self.rule {
            Rule::Rounded { slack, .. } => *slack += more,
            Rule::Reduction { row, .. } => *row += more,
            Rule::Exact | Rule::Steps { .. } | Rule::Selected { .. } => {}
        }
        self.frobenius_row = self.frobenius_row.map(|bound| bound + more);
        self.frobenius = self.frobenius.map(|bound| bound + more);
        self.loosened = Some(reason.to_owned());
        self
    }
}

/// What two operations may lose below the smallest number: half of it each, with as much to spare.
fn underflow(accumulation: DType) -> f64 {
    2.0 * codec::format(accumulation).map_or(0.0, codec::Format::smallest)
}

/// Epsilon of a float dtype, that of f32 for anything else: the accumulator where a contract names none.
fn epsilon(dtype: DType) -> f64 {
    codec::format(dtype).map_or(f64::from(f32::EPSILON), codec::Format::epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rounding_is_one_ulp_only_where_the_accumulator_is_wider() {
        let of = |dtype, accumulation, roundings| {
            Tolerance::of(Computation::Rounded { roundings, accumulation, length: 4096 }, dtype)
        };
        for dtype in [DType::F16, DType::BF16] {
            let tolerance = of(dtype, DType::F32, 1);
            assert!(matches!(tolerance.rule, Rule::Rounded { max_ulp: 1, exact_fraction: 0.99, slack: 0.0 }));
            assert_eq!(tolerance.naive_factor, Some(2.0));
            assert!(matches!(of(dtype, DType::F32, 2).rule, Rule::Rounded { max_ulp: 2, .. }));
        }
        assert!(matches!(of(DType::F32, DType::F64, 1).rule, Rule::Rounded { max_ulp: 1, .. }));
        match of(DType::F32, DType::F32, 1).rule {
            Rule::Reduction { row, relative } => {
                assert_eq!(row, 0.0);
                assert_eq!(relative, 12.0 * f64::from(f32::EPSILON));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn integers_are_exact_unless_steps_are_said() {
        for dtype in [DType::I8, DType::I64, DType::U32, DType::Bool] {
            let any = Computation::Reduction { accumulation: DType::F32, length: 9 };
            assert_eq!(Tolerance::of(any, dtype).rule, Rule::Exact);
            assert_eq!(Tolerance::of(Computation::Steps(1), dtype).rule, Rule::Steps { steps: 1 });
        }
    }
}
