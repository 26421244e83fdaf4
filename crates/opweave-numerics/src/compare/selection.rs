// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Ties among selected indices.

use super::{CompareError, Expected, Rule, Tolerance};

/// The candidates of each row, and how near two scores are a tie.
pub(super) struct Selection<'a> {
    scores: &'a [f64],
    candidates: usize,
    /// Indices in a row.
    selected: usize,
    relative: f64,
}

impl<'a> Selection<'a> {
    /// The selection that the tolerance speaks of, if it speaks of one, for `elements` indices in an output of `rank`
    /// dimensions whose last is `width`. Each element of a vector is a row of its own.
    pub(super) fn new(
        expected: &'a Expected,
        tolerance: &Tolerance,
        rank: usize,
        width: usize,
        elements: usize,
    ) -> Result<Option<Selection<'a>>, CompareError> {
        let Rule::Selected { relative } = tolerance.rule else { return Ok(None) };
        let selected = if rank > 1 { width.max(1) } else { 1 };
        let rows = elements / selected;
        let scores = expected.scores.as_deref().unwrap_or_default();
        if rows > 0 && (scores.is_empty() || !scores.len().is_multiple_of(rows)) {
            return Err(CompareError::Scores { name: expected.name.clone(), rows, scores: scores.len() });
        }
        Ok(Some(Selection { scores, candidates: scores.len() / rows.max(1), selected, relative }))
    }

    /// Whether `actual` may stand where `expected` does, at `element` of the compared ones; `before` are the indices that
    /// were found so far, in the same order.
    pub(super) fn is_tie(&self, element: usize, actual: i128, expected: i128, before: &[i128]) -> bool {
        let row = element / self.selected;
        let score = |index: i128| {
            let index = usize::try_from(index).ok().filter(|index| *index < self.candidates)?;
            self.scores.get(row * self.candidates + index)
        };
        let (Some(&a), Some(&e)) = (score(actual), score(expected)) else { return false };
        let taken = before[row * self.selected..].contains(&actual);
        let near = a == e || (a.is_nan() && e.is_nan()) || (a - e).abs() <= self.relative * a.abs().max(e.abs());
        // Against an infinity any finite score would be near.
        near && (a.is_finite() == e.is_finite()) && !taken
    }
}
