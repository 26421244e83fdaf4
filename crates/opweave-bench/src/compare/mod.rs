// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Two runs side by side, and a third that tells how much the machine drifts.
//!
//! `compare A B` first refuses what cannot be compared, and lists every difference. Then each series of B is judged
//! against the same series of A. With `A2`, a second run of what A ran, the difference must also exceed what A and A2
//! differ by.

mod matching;
mod refuse;
mod text;
mod verdict;

pub use matching::{Change, ChangeKind};
pub use refuse::{Difference, Refusal};
pub use text::render;
pub use verdict::{Paired, Rule, Verdict, judge, judge_turns};

use schemars::JsonSchema;
use serde::Serialize;

use crate::measurement::Pair;
use crate::report::{BenchReport, Row, RowStatus, SCHEMA_VERSION, Series};

/// What the user asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Smallest relative difference that counts.
    pub threshold: f64,
    /// Ambiguous, missing, new and renamed rows fail too.
    pub strict: bool,
    /// Show numbers of runs that cannot be compared, without any verdict.
    pub table_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threshold: 0.01, strict: false, table_only: false }
    }
}

/// One series in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    /// The case.
    pub case_id: String,
    /// The implementation.
    pub implementation: String,
    /// Mode, timer, scope, metric and cache state in words.
    pub series: String,
    /// Value in A.
    pub base_us: f64,
    /// Value in B.
    pub new_us: f64,
    /// B over A: above 1 is slower.
    pub ratio: f64,
    /// Smallest and largest ratio that the intervals allow.
    pub ratio_low: Option<f64>,
    /// Smallest and largest ratio that the intervals allow.
    pub ratio_high: Option<f64>,
    /// A2 over A, minus 1.
    pub drift: Option<f64>,
    /// The verdict; `None` when only a table was asked for.
    pub verdict: Option<Verdict>,
    /// Why a verdict is ambiguous where the numbers alone do not say it.
    pub note: Option<String>,
}

/// The outcome.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Version of this format, that of the reports.
    pub schema_version: u32,
    /// Series in both runs, in A's order.
    pub entries: Vec<Entry>,
    /// Rows that are in one run only, or differ in what they are.
    pub changes: Vec<Change>,
    /// Differences that a table without verdicts was asked for in spite of.
    pub differences: Vec<Difference>,
    /// Whether the outcome is a failure (exit 3).
    pub regressed: bool,
}

/// Compares B against A.
///
/// # Errors
/// [`Refusal`] with every difference, unless only a table was asked for.
pub fn compare(
    a: &BenchReport,
    b: &BenchReport,
    a2: Option<&BenchReport>,
    options: &Options,
) -> Result<Comparison, Refusal> {
    let mut differences = refuse::differences(a, b, "B");
    if let Some(a2) = a2 {
        differences.extend(refuse::differences(a, a2, "A2"));
    }
    if !differences.is_empty() && !options.table_only {
        return Err(Refusal { differences });
    }
    let rule = Rule { threshold: options.threshold, judged: !options.table_only };
    let matched = matching::rows(a, b);
    let mut changes = matched.changes;
    let mut entries = Vec::new();
    for (base, new) in matched.pairs {
        let again = a2.and_then(|a2| matching::find(a2, base));
        changes.extend(matching::status_change(base, new));
        if a2.is_some() && again.is_none() && base.status == RowStatus::Ok {
            changes.push(Change::of(ChangeKind::Missing, base, "A2 has no such row, so drift is unknown".to_owned()));
        }
        for series in &base.series {
            match new.series.iter().find(|s| s.measurement.kind() == series.measurement.kind()) {
                Some(other) => entries.extend(entry(base, series, other, again, &rule)),
                None if new.series.is_empty() => {}
                None => changes.push(Change::of(
                    ChangeKind::Missing,
                    base,
                    format!("B has no series {}", series.measurement.kind()),
                )),
            }
        }
    }
    let bad = |v: Verdict| v == Verdict::Slower || (options.strict && v == Verdict::Ambiguous);
    // Two runs with nothing in common are no success, strict or not.
    let nothing = entries.is_empty();
    let regressed = !options.table_only
        && (nothing
            || entries.iter().any(|e| e.verdict.is_some_and(bad))
            || changes.iter().any(|c| c.kind == ChangeKind::NowFails || options.strict));
    Ok(Comparison { schema_version: SCHEMA_VERSION, entries, changes, differences, regressed })
}

fn entry(base: &Row, a: &Series, b: &Series, again: Option<&Row>, rule: &Rule) -> Option<Entry> {
    // The caller matched the kinds; a pair of unlike kinds cannot be built in any case.
    let pair = Pair::new(&a.measurement, &b.measurement).ok()?;
    let a2 = again
        .and_then(|row| row.series.iter().find(|s| s.measurement.kind() == a.measurement.kind()))
        .and_then(|s| Pair::new(&a.measurement, &s.measurement).ok());
    let judged = judge(pair, a2, rule);
    Some(Entry {
        case_id: base.case_id.clone(),
        implementation: base.implementation.name.clone(),
        series: format!("{} {}", base.mode, a.measurement.kind()),
        base_us: a.measurement.impl_us,
        new_us: b.measurement.impl_us,
        ratio: judged.ratio,
        ratio_low: judged.range.map(|r| r.0),
        ratio_high: judged.range.map(|r| r.1),
        drift: judged.drift,
        verdict: rule.judged.then_some(judged.verdict),
        note: judged.note,
    })
}

#[cfg(test)]
mod tests;
