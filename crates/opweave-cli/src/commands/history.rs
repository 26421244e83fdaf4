// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave history`.

use comfy_table::{Cell, CellAlignment, Table};
use opweave_bench::report::us;
use opweave_numerics::suite::Glob;
use opweave_suite::history::{Point, date, history};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::HistoryArgs;
use crate::exit::{Exit, Failure};
use crate::output::{LINES, Output, SCHEMA_VERSION};

/// What `history --json` writes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HistoryJson {
    /// Version of this format.
    schema_version: u32,
    /// Rows at their times, oldest first within a row.
    points: Vec<Point>,
}

/// Shows how rows moved; exit 1 if there is nothing to show.
pub(crate) fn run(args: &HistoryArgs, out: &mut Output) -> Result<Exit, Failure> {
    let (kernel, label) = match args.rows.as_deref().map(|rows| rows.split_once('/').unwrap_or((rows, "*"))) {
        Some((kernel, label)) => (Glob::new(kernel), Glob::new(label)),
        None => (Glob::new("*"), Glob::new("*")),
    };
    let device = Glob::new(args.device.as_deref().unwrap_or("*"));
    let wanted = |row: &opweave_suite::record::Row| {
        kernel.matches(&row.kernel) && label.matches(&row.label) && device.matches(&row.device.name)
    };
    let points = history(&args.suites.join("baseline"), &args.runs, &wanted, &mut |what| {
        eprintln!("note: left out: failed to {what}")
    });
    let exit = if points.is_empty() { Exit::Bad } else { Exit::Good };
    if args.json {
        out.json(&HistoryJson { schema_version: SCHEMA_VERSION, points })?;
        return Ok(exit);
    }
    if points.is_empty() {
        out.line("no baseline and no run has such a row")?;
        return Ok(exit);
    }
    let mut table = Table::new();
    table.load_style(LINES).set_header(["row", "when", "source", "us", "ratio", "status", "implementation"]);
    for point in &points {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(format!("{}/{}", point.kernel, point.label)),
            Cell::new(date(point.unix_s)),
            Cell::new(&point.source),
            right(point.us.map_or_else(|| "-".to_owned(), us)),
            right(point.ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"))),
            Cell::new(point.status),
            Cell::new(point.implementation.as_deref().unwrap_or("-")),
        ]);
    }
    out.fit(&mut table);
    out.table(&table)?;
    Ok(exit)
}
