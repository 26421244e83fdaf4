// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Comparison of a result with the reference.
//!
//! Every test is written in its positive form, "the difference is within the bound", so that a NaN, for which no
//! comparison holds, fails it. Elements are compared in the order of the output; errors are measured against the
//! reference rounded once to the output's dtype, and norms also against the unrounded one.

mod floats;
mod integers;
mod measure;
mod result;
mod selection;
mod structure;
mod tolerance;

pub use measure::ulp_distance;
pub use result::{Doubt, Element, Frobenius, LeafResult, NonFinite, WORST};
pub use structure::{StructureError, check_structure};
pub use tolerance::{Computation, NanPolicy, Rule, Tolerance, accumulation_factor};

use crate::codec;
use crate::host::{HostTensor, Layout};

/// Expected elements in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats, not yet rounded to the output's dtype.
    Floats(Vec<f64>),
    /// Integers and booleans.
    Integers(Vec<i128>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Floats(values) => values.len(),
            Values::Integers(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What one output should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The argument.
    pub name: String,
    /// The values: of all rows, or of the sampled ones in their order.
    pub values: Values,
    /// The rows that were sampled from an output too large to compare whole; rows count over all dimensions but the last.
    pub rows: Option<Vec<usize>>,
    /// What a naive kernel of the same precision computes, where its error is larger than that of rounding alone.
    pub naive: Option<Vec<f64>>,
    /// What indices were selected by, under [`Rule::Selected`]: the score of every candidate, row by row.
    pub scores: Option<Vec<f64>>,
    /// Whether the output was poisoned before the call. An in-out argument was not.
    pub poisoned: bool,
}

impl Expected {
    /// All rows of a poisoned output.
    pub fn whole(name: impl Into<String>, values: Values) -> Expected {
        Expected { name: name.into(), values, rows: None, naive: None, scores: None, poisoned: true }
    }

    /// The index of the output's row that holds the `n`-th expected row.
    fn row(&self, n: usize) -> usize {
        self.rows.as_ref().map_or(n, |rows| rows[n])
    }
}

/// Why a comparison is impossible: the expected values do not belong to the output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A count that does not fit the output.
    #[error("output `{name}` has {expected} elements to compare; the reference gives {actual}")]
    Count {
        /// The argument.
        name: String,
        /// Elements to compare.
        expected: usize,
        /// Values given.
        actual: usize,
    },
    /// A sampled row that the output does not have.
    #[error("row {row} of output `{name}` was sampled; it has {rows}")]
    Row {
        /// The argument.
        name: String,
        /// The row.
        row: usize,
        /// Rows of the output.
        rows: usize,
    },
    /// Selected indices without the scores of their candidates.
    #[error("output `{name}` holds indices for {rows} rows; the suite gives {scores} scores")]
    Scores {
        /// The argument.
        name: String,
        /// Rows to compare.
        rows: usize,
        /// Scores given.
        scores: usize,
    },
    /// Floats for an integer output or integers for a float one.
    #[error("output `{name}` has dtype {dtype}; the reference gives {given}")]
    Kind {
        /// The argument.
        name: String,
        /// Its dtype.
        dtype: opweave_tensor::DType,
        /// What the reference gives.
        given: &'static str,
    },
}

/// Compares one output with what it should be.
///
/// # Errors
/// [`CompareError`] when `expected` does not belong to the output. A wrong result is not an error but a finding.
pub fn compare(actual: &HostTensor, expected: &Expected, tolerance: &Tolerance) -> Result<LeafResult, CompareError> {
    let layout = actual.layout();
    let rows = expected.rows.as_ref().map_or(layout.rows(), Vec::len);
    let count = rows * layout.width();
    let given = [Some(expected.values.len()), expected.naive.as_ref().map(Vec::len)];
    if let Some(&actual) = given.iter().flatten().find(|&&n| n != count) {
        return Err(CompareError::Count { name: expected.name.clone(), expected: count, actual });
    }
    if let Some(&row) = expected.rows.iter().flatten().find(|&&row| row >= layout.rows()) {
        return Err(CompareError::Row { name: expected.name.clone(), row, rows: layout.rows() });
    }
    let mut leaf = match (&expected.values, codec::format(layout.dtype)) {
        (Values::Floats(values), Some(format)) => floats::compare(actual, expected, values, format, tolerance),
        (Values::Integers(values), None) => integers::compare(actual, expected, values, tolerance)?,
        (values, _) => {
            let given = if matches!(values, Values::Floats(_)) { "floats" } else { "integers" };
            return Err(CompareError::Kind { name: expected.name.clone(), dtype: layout.dtype, given });
        }
    };
    if leaf.failing > 0 {
        let text = format!("{} of {} elements outside the tolerance", leaf.failing, leaf.elements);
        leaf.failures.insert(0, text);
    }
    Ok(leaf)
}

/// A result of nothing compared yet.
fn blank(name: &str, layout: &Layout, elements: usize, tolerance: &Tolerance) -> LeafResult {
    LeafResult {
        name: name.to_owned(),
        dtype: layout.dtype.name().to_owned(),
        shape: layout.shape.clone(),
        tolerance: tolerance.clone(),
        elements: elements as u64,
        failing: 0,
        failing_fraction: 0.0,
        max_abs: 0.0.into(),
        max_rel: 0.0.into(),
        max_ulp: None,
        exact_fraction: 1.0,
        frobenius: None,
        unwritten: 0,
        actual_non_finite: NonFinite::default(),
        expected_non_finite: NonFinite::default(),
        worst: Vec::new(),
        failures: Vec::new(),
        doubt: None,
    }
}

/// The index of element `column` of row `row`.
fn index(layout: &Layout, row: usize, column: usize) -> Vec<usize> {
    let mut index = vec![0; layout.shape.len()];
    let mut rest = row;
    for (axis, place) in index.iter_mut().enumerate().rev() {
        if axis + 1 == layout.shape.len() {
            *place = column;
        } else {
            *place = rest % layout.shape[axis];
            rest /= layout.shape[axis];
        }
    }
    index
}

/// The worst elements so far, kept as a short sorted list; most elements do not reach it.
#[derive(Default)]
struct Worst {
    kept: Vec<(bool, f64, usize, usize, u64, u64)>,
}

impl Worst {
    /// Offers an element that is not exact: whether it fails, how far it is off, where, and the two patterns.
    fn offer(&mut self, failing: bool, distance: f64, at: (usize, usize), actual: u64, expected: u64) {
        // NaN distances are the worst there are.
        let distance = if distance.is_nan() { f64::INFINITY } else { distance };
        let key = (failing, distance);
        if self.kept.len() == WORST && self.kept.last().is_some_and(|last| (last.0, last.1) >= key) {
            return;
        }
        let place = self.kept.partition_point(|kept| (kept.0, kept.1) >= key);
        self.kept.insert(place, (failing, distance, at.0, at.1, actual, expected));
        self.kept.truncate(WORST);
    }

    fn into_elements(self, layout: &Layout, describe: impl Fn(u64, u64) -> (f64, f64, Option<u64>)) -> Vec<Element> {
        let element = |(failing, _, row, column, actual, expected)| {
            let (actual, expected, ulp) = describe(actual, expected);
            Element {
                index: index(layout, row, column),
                actual: actual.into(),
                expected: expected.into(),
                ulp,
                failing,
            }
        };
        self.kept.into_iter().map(element).collect()
    }
}
