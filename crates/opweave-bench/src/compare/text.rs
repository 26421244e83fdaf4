// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A comparison in words.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::{Comparison, Verdict};
use crate::report::us;

/// Table of the series, list of the changes, one line of totals.
#[must_use]
pub fn render(comparison: &Comparison, width: Option<u16>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_all(comparison, width, &mut out);
    out
}

fn write_all(c: &Comparison, width: Option<u16>, out: &mut String) -> std::fmt::Result {
    if !c.differences.is_empty() {
        writeln!(out, "these runs cannot be judged against each other:")?;
        for difference in &c.differences {
            writeln!(out, "  {difference}")?;
        }
        writeln!(out)?;
    }
    let mut table = Table::new();
    table.load_style(crate::report::LINES);
    table.set_header(["case", "implementation", "series", "A us", "B us", "B/A", "range", "drift", "verdict"]);
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for e in &c.entries {
        let range = match (e.ratio_low, e.ratio_high) {
            (Some(low), Some(high)) => format!("{low:.3} .. {high:.3}"),
            _ => "unknown".to_owned(),
        };
        let verdict = match (&e.verdict, &e.note) {
            (None, _) => "-".to_owned(),
            (Some(verdict), None) => verdict.to_string(),
            (Some(verdict), Some(note)) => format!("{verdict}: {note}"),
        };
        table.add_row([
            e.case_id.clone(),
            e.implementation.clone(),
            e.series.clone(),
            us(e.base_us),
            us(e.new_us),
            format!("{:.3}", e.ratio),
            range,
            e.drift.map_or_else(|| "-".to_owned(), |d| format!("{:+.1} %", d * 100.0)),
            verdict,
        ]);
    }
    for index in 3..8 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.to_string().lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    for change in &c.changes {
        writeln!(out, "{}: {} {} {}", change.kind, change.case_id, change.implementation, change.detail)?;
    }
    let count = |v| c.entries.iter().filter(|e| e.verdict == Some(v)).count();
    writeln!(
        out,
        "{} series: {} faster, {} slower, {} same, {} ambiguous; {} changes",
        c.entries.len(),
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Same),
        count(Verdict::Ambiguous),
        c.changes.len()
    )?;
    if c.entries.is_empty() {
        writeln!(out, "the runs have no series in common")?;
    }
    Ok(())
}
