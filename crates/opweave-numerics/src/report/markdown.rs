// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The report as Markdown: for a pull request, so what went wrong comes first and passes are counted.

use std::fmt::Write;

use super::{CaseReport, ConsideredVerdict, OperationReport, Report};
use crate::compare::LeafResult;
use crate::verdict::Counts;

/// Cases told in full; the JSON report has all.
const TOLD: usize = 20;

/// The report in Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    head(&mut out, report);
    table(&mut out, report);
    let bad: Vec<(&OperationReport, &CaseReport)> = report
        .operations
        .iter()
        .flat_map(|operation| operation.cases.iter().map(move |case| (operation, case)))
        .filter(|(_, case)| !case.verdict.is_acceptable())
        .collect();
    if !bad.is_empty() {
        line(&mut out, "## What went wrong\n");
        bad.iter().take(TOLD).for_each(|(operation, case)| trouble(&mut out, operation, case));
        if bad.len() > TOLD {
            line(&mut out, &format!("{} more are in the JSON report.\n", bad.len() - TOLD));
        }
    }
    selection(&mut out, report);
    environment(&mut out, report);
    out
}

/// Appends a line; writing to a string cannot fail.
fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn head(out: &mut String, report: &Report) {
    line(out, &format!("# Numerics: {}\n", report.status.name()));
    line(out, &format!("{} in {:.1} s.\n", counts(&report.counts), report.elapsed_ms / 1e3));
    let settings = &report.settings;
    line(
        out,
        &format!(
            "Device `{}`, mode `{}`, tier `{}`, seed {}, grade `{}` ({}).\n",
            settings.device, settings.mode, settings.tier, settings.seed, settings.grade, settings.input_algorithm
        ),
    );
    if let Some(distributed) = &report.distributed {
        let whose = distributed.rank.map_or_else(|| "together".to_owned(), |rank| format!("what rank {rank} found"));
        line(out, &format!("{} ranks, {whose}:\n", distributed.size));
        for rank in &distributed.ranks {
            let host = rank.host.as_deref().unwrap_or("unknown host");
            let file = rank.report.as_deref().map_or_else(String::new, |file| format!(", `{file}`"));
            line(out, &format!("- rank {}: {} on {host}, process {}{file}", rank.rank, rank.device, rank.process));
        }
        line(out, "");
    }
    line(out, &format!("    {}\n", report.command));
    for note in &report.notes {
        line(out, &format!("- {note}"));
    }
}

fn counts(counts: &Counts) -> String {
    let parts: Vec<String> =
        counts.non_zero().into_iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
    if parts.is_empty() { "No cases".to_owned() } else { parts.join(", ") }
}

/// One row for each operation and implementation.
fn table(out: &mut String, report: &Report) {
    line(out, "| operation | implementation | passed | other | worst ulp | least exact | worst row error |");
    line(out, "| --- | --- | ---: | --- | ---: | ---: | ---: |");
    for operation in &report.operations {
        let mut names: Vec<Option<&str>> = operation.cases.iter().map(implementation).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let cases = || operation.cases.iter().filter(|case| implementation(case) == name);
            let mut tally = Counts::default();
            cases().for_each(|case| tally.add(&case.verdict));
            let other = Counts { passed: 0, ..tally };
            let leaves = || cases().flat_map(|case| &case.leaves);
            let ulp = leaves().filter_map(|leaf| leaf.max_ulp).max();
            let exact = leaves().map(|leaf| leaf.exact_fraction).fold(f64::INFINITY, f64::min);
            let row = leaves().filter_map(row_error).fold(f64::NEG_INFINITY, f64::max);
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            line(
                out,
                &format!(
                    "| `{}` | {} | {} | {} | {} | {} | {} |",
                    operation.operation,
                    name.map_or_else(|| "none".to_owned(), |n| format!("`{n}`")),
                    tally.passed,
                    if other.total() == 0 { String::new() } else { self::counts(&other) },
                    or_dash(ulp.map(|u| u.to_string())),
                    or_dash(exact.is_finite().then(|| format!("{:.4} %", exact * 100.0))),
                    or_dash(row.is_finite().then(|| format!("{row:.2e}"))),
                ),
            );
        }
    }
    line(out, "");
}

fn implementation(case: &CaseReport) -> Option<&str> {
    case.implementation.as_ref().map(|i| i.name.as_str())
}

fn row_error(leaf: &LeafResult) -> Option<f64> {
    leaf.frobenius.as_ref().map(|f| f.worst_row.0)
}

fn trouble(out: &mut String, operation: &OperationReport, case: &CaseReport) {
    let on = implementation(case).map_or_else(String::new, |name| format!(" on `{name}`"));
    line(out, &format!("### `{}` `{}`{on}: {}\n", operation.operation, case.label, case.verdict.name()));
    if let Some(reason) = case.verdict.reason() {
        line(out, &format!("{reason}\n"));
    }
    for finding in &case.findings {
        line(out, &format!("- {}: {}", finding.kind.name(), finding.text));
    }
    for leaf in case.leaves.iter().filter(|leaf| !leaf.passed()) {
        line(out, &format!("\nWorst elements of `{}` ({}):\n", leaf.name, leaf.dtype));
        line(out, "| index | actual | expected | ulp |\n| --- | ---: | ---: | ---: |");
        for element in &leaf.worst {
            let ulp = element.ulp.map_or_else(|| "-".to_owned(), |u| u.to_string());
            line(out, &format!("| {:?} | {} | {} | {ulp} |", element.index, element.actual, element.expected));
        }
    }
    line(out, &format!("\n    {}\n", case.reproduce));
}

/// What selection takes, and why it refuses others, each distinct answer once.
fn selection(out: &mut String, report: &Report) {
    if report.operations.iter().all(|operation| operation.selection.is_empty()) {
        return;
    }
    line(out, "## Selection\n");
    line(out, "| operation | row | problems | answer |\n| --- | --- | ---: | --- |");
    for operation in &report.operations {
        let mut answers: Vec<(String, String, usize)> = Vec::new();
        for selection in &operation.selection {
            for row in &selection.considered {
                let answer = match &row.verdict {
                    ConsideredVerdict::Eligible { rank } if selection.selected.as_ref() == Some(&row.name) => {
                        format!("selected, rank {rank}")
                    }
                    ConsideredVerdict::Eligible { rank } => format!("eligible, rank {rank}"),
                    ConsideredVerdict::Rejected { reason } => reason.clone(),
                };
                match answers.iter_mut().find(|(name, text, _)| *name == row.name && *text == answer) {
                    Some((_, _, count)) => *count += 1,
                    None => answers.push((row.name.clone(), answer, 1)),
                }
            }
        }
        answers.sort();
        for (name, answer, count) in answers {
            line(out, &format!("| `{}` | `{name}` | {count} | {} |", operation.operation, cell(&answer)));
        }
    }
    line(out, "");
}

fn environment(out: &mut String, report: &Report) {
    let environment = &report.environment;
    let (device, host) = (&environment.device, &environment.host);
    line(out, "## Environment\n");
    let mut item = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            let _ = writeln!(out, "- {name}: {value}");
        }
    };
    item("device", Some(format!("{} {} ({})", device.id, device.name, device.key)));
    item("driver", device.driver.clone());
    item("runtime", device.runtime.clone());
    item("clocks", Some(device.clocks.clone()));
    item("threads", device.threads.map(|n| n.to_string()));
    item("host", Some(host.system.clone()));
    item("processors", host.processors.map(|n| n.to_string()));
    let load = |v: Option<f64>| v.map_or_else(|| "unknown".to_owned(), |v| v.to_string());
    item("load", Some(format!("{} before, {} after", load(host.load_before), load(host.load_after))));
    item("opweave", Some(format!("{} ({})", environment.opweave, environment.build)));
    item("rustc", Some(environment.rustc.clone()));
    let dirty = if environment.dirty == Some(true) { ", with changes" } else { "" };
    item("revision", environment.revision.as_ref().map(|r| format!("{r}{dirty}")));
    for library in &environment.libraries {
        item(&library.name, Some(library.version.clone()));
    }
    item("images", Some(environment.images.join(", ")));
}
