// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The table on the terminal.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

use super::numbers::{digits, or_dash, share, us};
use super::{BenchReport, Row, Series};
use crate::measurement::Metric;

/// One rule under the header: lines between rows would double the height and say nothing.
pub(crate) const LINES: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// One line per row and cache state, with the value of the row, its spread, rates and the share of the ceiling.
#[must_use]
pub fn table(report: &BenchReport, width: Option<u16>) -> String {
    let mut table = Table::new();
    table.load_style(LINES);
    table.set_header(HEADER);
    if let Some(width) = width {
        table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic).set_width(width);
    }
    for cells in report.rows.iter().flat_map(lines) {
        table.add_row(cells);
    }
    for index in 4..HEADER.len() - 1 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

pub(super) const HEADER: [&str; 10] =
    ["operation", "case", "implementation", "series", "us", "±%", "GB/s", "GFLOP/s", "ceiling", "note"];

/// Lines of one row: one per completion series, or one that says why there is none.
pub(super) fn lines(row: &Row) -> Vec<[String; 10]> {
    let head = [row.operation.clone(), row.label.clone(), row.implementation.name.clone()];
    if row.series.is_empty() {
        let why = why_not(row);
        let dash = || "-".to_owned();
        let [a, b, c] = head;
        return vec![[a, b, c, row.mode.to_string(), dash(), dash(), dash(), dash(), dash(), why]];
    }
    row.series
        .iter()
        // How soon the host is free is in the record; the table is about the result.
        .filter(|s| s.measurement.metric == Metric::Completion)
        .map(|s| {
            let [a, b, c] = head.clone();
            let m = &s.measurement;
            [
                a,
                b,
                c,
                format!("{} {}", row.mode, m.cache),
                us(m.impl_us),
                or_dash(spread(s), |v| format!("{v:.1}")),
                or_dash(s.gb_per_s, digits),
                or_dash(s.gflop_per_s, digits),
                // Faster than memory is no share of memory's speed; the note says what it is.
                or_dash(s.share_of_ceiling.filter(|_| !s.cache_resident), share),
                note(row, s),
            ]
        })
        .collect()
}

/// Why a row has no times.
pub(crate) fn why_not(row: &Row) -> String {
    row.reason.clone().or_else(|| row.validation.reason()).unwrap_or_else(|| row.validation.name().to_owned())
}

/// Half the width of the interval in percent of the value.
fn spread(series: &Series) -> Option<f64> {
    let interval = series.measurement.interval()?;
    let value = series.measurement.impl_us;
    (value > 0.0).then(|| (interval.high_us - interval.low_us) / 2.0 / value * 100.0)
}

fn note(row: &Row, series: &Series) -> String {
    let mut notes = Vec::new();
    if series.cache_resident {
        notes.push("cache resident".to_owned());
    }
    if series.measurement.trend.is_some_and(|t| t.drifting) {
        notes.push("drifting".to_owned());
    }
    if series.measurement.no_verdict.is_some() {
        notes.push("no verdict".to_owned());
    }
    let kind = series.measurement.kind().to_string();
    for against in row.against.iter().filter(|a| a.series == kind) {
        notes.push(format!("{}x {} ({})", digits(against.ratio), against.implementation, against.verdict));
    }
    if row.status == super::RowStatus::BaselineError {
        notes.push("baseline error".to_owned());
    }
    notes.join(", ")
}
