// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A run against a baseline, or against another run.

use std::collections::BTreeMap;
use std::fmt;

use opweave_bench::report::us;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Baseline, Device};
use crate::record::{Planned, Row, Run, SCHEMA_VERSION, Status};

/// What is asked of a judgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Smallest fall that counts.
    pub threshold: f64,
    /// Numbers of runs that cannot be compared, without verdicts.
    pub table_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { threshold: 0.01, table_only: false }
    }
}

/// A field in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// What differs.
    pub field: String,
    /// The base has this.
    pub base: String,
    /// The run has this.
    pub new: String,
}

/// Runs that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("compare with the base, they differ in {}", list(.0))]
pub struct Refusal(pub Vec<Difference>);

fn list(differences: &[Difference]) -> String {
    let line = |d: &Difference| format!("\n  {}: the base has `{}`, the run `{}`", d.field, d.base, d.new);
    let lines: String = differences.iter().map(line).collect();
    format!("{} field{}:{lines}", differences.len(), if differences.len() == 1 { "" } else { "s" })
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Rose by more than the threshold and the noise.
    Faster,
    /// Fell by more than the threshold and the noise.
    Slower,
    /// Moved by no more than the threshold.
    Same,
    /// Moved by more than the threshold and no more than the noise.
    Ambiguous,
    /// Nothing can be said: see the note.
    None,
}

impl Verdict {
    /// The word in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Ambiguous => "ambiguous",
            Verdict::None => "no verdict",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One row of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The operator.
    pub kernel: String,
    /// The case.
    pub label: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What was compared: `ratio`, or `time` where no reference was measured.
    pub by: String,
    /// Value of the base: a ratio, or microseconds.
    pub base: Option<f64>,
    /// Value of the run.
    pub new: Option<f64>,
    /// Relative change of speed; below 0 the run is slower.
    pub change: Option<f64>,
    /// Noise of both together, as a share.
    pub noise: Option<f64>,
    /// What a reader must know: another implementation, a status.
    pub note: Option<String>,
}

/// A run held to a base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Version of this format.
    pub schema_version: u32,
    /// Smallest fall that counts.
    pub threshold: f64,
    /// Whether a row fell.
    pub regressed: bool,
    /// In what both differ, where only a table was asked for.
    pub differences: Vec<Difference>,
    /// Rows of both.
    pub entries: Vec<Entry>,
    /// Rows that the base lacks.
    pub new: Vec<String>,
    /// Rows of the base that a whole run did not plan.
    pub missing: Vec<String>,
    /// Rows of the base that the run planned and did not reach, or that a partial run left out.
    pub unattempted: Vec<String>,
}

/// Judges `run` by `base`.
///
/// # Errors
/// [`Refusal`] with every field in which they differ, unless only a table is asked for.
pub fn judge(base: &Baseline, run: &Run, options: &Options) -> Result<Judgement, Refusal> {
    let rows: BTreeMap<Planned, &Row> = run.rows.iter().map(|row| (row.planned(), row)).collect();
    let differences = differences(base, run, &rows);
    if !differences.is_empty() && !options.table_only {
        return Err(Refusal(differences));
    }
    let mut judgement = Judgement {
        schema_version: SCHEMA_VERSION,
        threshold: options.threshold,
        regressed: false,
        differences,
        entries: Vec::new(),
        new: Vec::new(),
        missing: Vec::new(),
        unattempted: Vec::new(),
    };
    for old in &base.rows {
        let planned = old.planned();
        match rows.get(&planned) {
            Some(row) if row.status == Status::Cancelled => judgement.unattempted.push(planned.to_string()),
            Some(row) => judgement.entries.push(entry(old, row, options)),
            None if run.planned.contains(&planned) || run.partial.is_some() => {
                judgement.unattempted.push(planned.to_string());
            }
            None => judgement.missing.push(planned.to_string()),
        }
    }
    let known: Vec<Planned> = base.rows.iter().map(Row::planned).collect();
    judgement.new = run.rows.iter().map(Row::planned).filter(|p| !known.contains(p)).map(|p| p.to_string()).collect();
    judgement.regressed = judgement.entries.iter().any(|entry| entry.verdict == Verdict::Slower);
    Ok(judgement)
}

/// A row by its speed: the ratio, or calls in a microsecond. With its noise: half the range of the rounds, as a share.
fn speed(row: &Row, by_ratio: bool) -> Option<(f64, f64)> {
    let noise = |rounds: &[f64], value: f64| {
        let low = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = rounds.iter().copied().fold(0.0, f64::max);
        if rounds.len() < 2 { f64::INFINITY } else { (high - low) / 2.0 / value }
    };
    if by_ratio {
        let ratio = row.ratio?;
        return Some((ratio, noise(&row.ratio_rounds, ratio)));
    }
    let ours = row.ours()?;
    Some((1.0 / ours.us, noise(&ours.round_us, ours.us)))
}

fn entry(old: &Row, new: &Row, options: &Options) -> Entry {
    let by_ratio = old.ratio.is_some() && new.ratio.is_some();
    let value = |row: &Row| if by_ratio { row.ratio } else { row.ours().map(|ours| ours.us) };
    let mut notes = Vec::new();
    if old.implementation != new.implementation {
        let name = |row: &Row| row.implementation.clone().unwrap_or_else(|| "nothing".to_owned());
        notes.push(format!("runs {} instead of {}", name(new), name(old)));
    }
    if old.ratio.is_some() != new.ratio.is_some() {
        notes.push("only one of them has a reference, so times are compared".to_owned());
    }
    let mut undecided = None;
    for (whose, row) in [("base", old), ("run", new)] {
        // A row without its reference still has its own time; a disturbed one has nothing that counts.
        if !matches!(row.status, Status::Ok | Status::BaselineError) {
            undecided = Some(format!("the {whose} is `{}`", row.status));
        } else if let Some(why) = &row.no_verdict {
            undecided = Some(format!("the {whose} decides nothing: {why}"));
        }
    }
    if options.table_only {
        undecided = undecided.or(Some("only a table".to_owned()));
    }
    let both = speed(old, by_ratio).zip(speed(new, by_ratio));
    let change = both.map(|((base, _), (new, _))| new / base - 1.0).filter(|change| change.is_finite());
    let noise = both.map(|((_, base), (_, new))| base + new).filter(|noise| noise.is_finite());
    let verdict = match (undecided, change) {
        (Some(why), _) => {
            notes.push(why);
            Verdict::None
        }
        (None, None) => {
            notes.push("a time is missing".to_owned());
            Verdict::None
        }
        (None, Some(change)) => verdict(change, noise, options.threshold),
    };
    Entry {
        kernel: new.kernel.clone(),
        label: new.label.clone(),
        verdict,
        by: if by_ratio { "ratio" } else { "time" }.to_owned(),
        base: value(old),
        new: value(new),
        change,
        noise,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

/// Unknown noise hides everything.
fn verdict(change: f64, noise: Option<f64>, threshold: f64) -> Verdict {
    let size = change.abs();
    match noise {
        _ if size <= threshold => Verdict::Same,
        Some(noise) if size > noise && change < 0.0 => Verdict::Slower,
        Some(noise) if size > noise => Verdict::Faster,
        _ => Verdict::Ambiguous,
    }
}

fn differences(base: &Baseline, run: &Run, rows: &BTreeMap<Planned, &Row>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut field = |field: String, base: String, new: String| {
        if base != new {
            found.push(Difference { field, base, new });
        }
    };
    let (a, b) = (&base.device, Device::of(run));
    field("device.name".to_owned(), a.name.clone(), b.name);
    field("device.key".to_owned(), a.key.clone(), b.key);
    field("device.threads".to_owned(), text(&a.threads), text(&b.threads));
    field("device.driver".to_owned(), text(&a.driver), text(&b.driver));
    for old in &base.rows {
        let Some(new) = rows.get(&old.planned()) else { continue };
        // A row that was not timed has neither protocol nor kind; its status says so.
        if old.ours().is_none() || new.ours().is_none() {
            continue;
        }
        let at = |name: &str| format!("{}: {name}", old.planned());
        let problem = |row: &Row| row.problem.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
        field(at("series"), text(&old.series), text(&new.series));
        field(at("problem"), problem(old), problem(new));
        field(at("inputs"), text(&old.grade), text(&new.grade));
        field(at("build"), old.build.clone(), new.build.clone());
        field(at("cache"), text(&old.cache_method), text(&new.cache_method));
        let protocol = |row: &Row| row.protocol.as_ref().map_or_else(String::new, |p| format!("{p:?}"));
        field(at("protocol"), protocol(old), protocol(new));
    }
    found
}

fn text<T: fmt::Display>(value: &Option<T>) -> String {
    value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// The judgement as a table and what it lists, for a terminal or a pipe.
#[must_use]
pub fn render(judgement: &Judgement) -> String {
    let mut out = String::new();
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |s| format!("{:.1} %", s * 100.0));
    let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), us);
    let width = judgement.entries.iter().map(|e| e.kernel.len() + e.label.len() + 1).max().unwrap_or(0);
    for e in &judgement.entries {
        let name = format!("{}/{}", e.kernel, e.label);
        let change = e.change.map_or_else(|| "-".to_owned(), |c| format!("{:+.1} %", c * 100.0));
        let note = e.note.as_ref().map_or_else(String::new, |note| format!("  {note}"));
        let line = format!(
            "{name:width$}  {:<10}  {:>8} -> {:>8} {:<5}  {change:>9}  noise {}{note}",
            e.verdict,
            value(e.base),
            value(e.new),
            if e.by == "time" { "us" } else { "x" },
            percent(e.noise),
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    for (what, rows) in
        [("new", &judgement.new), ("missing", &judgement.missing), ("unattempted", &judgement.unattempted)]
    {
        if !rows.is_empty() {
            out.push_str(&format!("{what}: {}\n", rows.join(", ")));
        }
    }
    for d in &judgement.differences {
        out.push_str(&format!("{}: the base has `{}`, the run `{}`\n", d.field, d.base, d.new));
    }
    out
}
