// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which row of one run is which of the other.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::{BenchReport, Row, RowStatus};

/// A row without its like in the other run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// What happened to it.
    pub kind: ChangeKind,
    /// The case.
    pub case_id: String,
    /// The implementation.
    pub implementation: String,
    /// In words.
    pub detail: String,
}

/// What happened to a row; closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// In A only.
    Missing,
    /// In B only.
    New,
    /// The same problem and implementation under another label.
    Renamed,
    /// The same case, chosen or asked for with another implementation.
    OtherImplementation,
    /// Timed in A, failed in B.
    NowFails,
    /// Not timed in A or in both, or skipped in B.
    NotTimed,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Missing => "missing",
            Self::New => "new",
            Self::Renamed => "renamed",
            Self::OtherImplementation => "other implementation",
            Self::NowFails => "now fails",
            Self::NotTimed => "not timed",
        })
    }
}

impl Change {
    pub(super) fn of(kind: ChangeKind, row: &Row, detail: String) -> Self {
        Self { kind, case_id: row.case_id.clone(), implementation: row.implementation.name.clone(), detail }
    }
}

pub(super) struct Matched<'a> {
    pub(super) pairs: Vec<(&'a Row, &'a Row)>,
    pub(super) changes: Vec<Change>,
}

/// The row of the same case, mode and implementation.
pub(super) fn find<'a>(report: &'a BenchReport, row: &Row) -> Option<&'a Row> {
    report.rows.iter().find(|r| key(r) == key(row))
}

fn key(row: &Row) -> (&str, opweave_numerics::Mode, &str) {
    (&row.case_id, row.mode, &row.implementation.name)
}

/// Pairs rows by name, then explains what is left.
pub(super) fn rows<'a>(a: &'a BenchReport, b: &'a BenchReport) -> Matched<'a> {
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for row in &a.rows {
        match find(b, row) {
            Some(other) => pairs.push((row, other)),
            None => left.push(row),
        }
    }
    let mut new: Vec<&Row> = b.rows.iter().filter(|row| find(a, row).is_none()).collect();
    let mut changes = Vec::new();
    for row in left {
        let mut take = |like: &dyn Fn(&Row) -> bool| new.iter().position(|r| like(r)).map(|i| new.remove(i));
        let same_work = |r: &Row| {
            (&r.operation, r.mode, &r.problem, &r.grade) == (&row.operation, row.mode, &row.problem, &row.grade)
        };
        if let Some(other) = take(&|r| r.case_id == row.case_id && r.mode == row.mode) {
            let detail = format!("ran {} in B", other.implementation.name);
            changes.push(Change::of(ChangeKind::OtherImplementation, row, detail));
        } else if let Some(other) = take(&|r| r.implementation.name == row.implementation.name && same_work(r)) {
            changes.push(Change::of(ChangeKind::Renamed, row, format!("is {} in B", other.case_id)));
        } else {
            changes.push(Change::of(ChangeKind::Missing, row, format!("{} row is not in B", row.mode)));
        }
    }
    let names: BTreeSet<&str> = a.rows.iter().map(|r| r.case_id.as_str()).collect();
    for row in new {
        let known = if names.contains(row.case_id.as_str()) { "row" } else { "case" };
        changes.push(Change::of(ChangeKind::New, row, format!("{} {known} is not in A", row.mode)));
    }
    Matched { pairs, changes }
}

/// What a change of status means: timed before and failing now is a regression, strict or not.
pub(super) fn status_change(a: &Row, b: &Row) -> Option<Change> {
    let timed = |row: &Row| matches!(row.status, RowStatus::Ok | RowStatus::BaselineError);
    let why = crate::report::why_not;
    match (timed(a), timed(b)) {
        (true, true) => None,
        (true, false) => {
            let failed = matches!(b.status, RowStatus::Fail | RowStatus::TimedOut);
            let kind = if failed { ChangeKind::NowFails } else { ChangeKind::NotTimed };
            Some(Change::of(kind, b, format!("timed in A, in B: {}", why(b))))
        }
        (false, true) => Some(Change::of(ChangeKind::New, b, format!("timed in B, in A: {}", why(a)))),
        (false, false) => {
            // The same refusal in both runs is no change.
            (why(a) != why(b))
                .then(|| Change::of(ChangeKind::NotTimed, b, format!("in A: {}; in B: {}", why(a), why(b))))
        }
    }
}
