// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave report`.

use std::path::Path;

use opweave_numerics::report::write_atomically;
use opweave_suite::baseline::{Baseline, Options, judge, parse_baseline};
use opweave_suite::history::history;
use opweave_suite::page::{html, markdown};
use opweave_suite::record::{RUN_KIND, kind_of, read_run};

use super::suite_files::find_run;
use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Writes a run as a page and as Markdown; exit 3 if it fell against what it is held to.
pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit, Failure> {
    let usage = |e: &dyn std::fmt::Display| Failure::usage(format_args!("failed to {e}"));
    let path = find_run(&args.runs, &args.run)?;
    let run = read_run(&path).map_err(|e| usage(&e))?;
    let judgement = match &args.against {
        Some(base) => {
            let base = load(base).map_err(|e| usage(&e))?;
            let options = Options { threshold: args.threshold / 100.0, table_only: args.table_only };
            Some(judge(&base, &run, &options).map_err(|e| usage(&e))?)
        }
        None => None,
    };
    let device = &run.device.name;
    let points = history(&args.suites.join("baseline"), &args.runs, &|row| row.device.name == *device, &mut |what| {
        tracing::warn!("left out of the history: failed to {what}");
    });
    let page =
        html(&run, judgement.as_ref(), &points).map_err(|e| Failure::Broken(anyhow::anyhow!("failed to {e}")))?;
    let to = args.output.clone().unwrap_or_else(|| path.with_extension("html"));
    for (path, text) in [(to.clone(), page), (to.with_extension("md"), markdown(&run, judgement.as_ref()))] {
        write_atomically(&path, text.as_bytes())
            .map_err(|e| Failure::Broken(anyhow::anyhow!("failed to write {e}")))?;
        out.line(path.display())?;
    }
    Ok(if judgement.is_some_and(|j| j.regressed) { Exit::Regressed } else { Exit::Good })
}

/// A baseline, or a run in its place.
fn load(path: &Path) -> Result<Baseline, opweave_suite::record::RecordError> {
    if kind_of(path).as_deref() == Some(RUN_KIND) {
        return Ok(Baseline::of(&read_run(path)?));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|source| opweave_suite::record::RecordError::Read { path: path.to_owned(), source })?;
    parse_baseline(path, &text)
}
