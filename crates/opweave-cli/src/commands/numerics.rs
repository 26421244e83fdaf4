// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave numerics`.

use opweave_numerics::report::{CaseReport, Report, Status};
use opweave_numerics::suite::SuiteSet;
use opweave_numerics::{Config, plan};

use super::ground::{Base, config, output};
use crate::args::NumericsArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone};
use crate::progress::{Drawn, words};

/// Failing cases that are shown in full; the report has all of them.
const SHOWN: usize = 20;

/// Validates; exit 0 only if something passed and nothing went wrong.
pub(crate) fn run(
    args: &NumericsArgs,
    suites: &SuiteSet,
    suite_arguments: Vec<(String, String)>,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let path = output(&args.select, "numerics");
    let config = Config {
        repeat: args.repeat,
        batch_invariance: args.batch_invariance,
        ..config(&args.select, suite_arguments, path.clone())
    };
    let base = Base::new(&args.select)?;
    let ground = base.ground(suites);
    let failed = |error: opweave_numerics::RunError| {
        let text = anyhow::anyhow!("{error}");
        if error.exit_code() == 2 { Failure::Usage(text) } else { Failure::Broken(text) }
    };
    if args.select.list {
        for operation in plan(&config, &ground).map_err(failed)? {
            for case in &operation.cases {
                for task in &case.tasks {
                    let name = task.row.map_or("-", |row| row.spec().name.as_str());
                    out.line(format_args!("{} {} {name}", case.info.id(config.seed), case.info.tier))?;
                }
            }
        }
        return Ok(Exit::Good);
    }
    let report = opweave_numerics::run(&config, &ground, &mut Drawn::new()).map_err(failed)?;
    if args.select.json {
        out.json(&report)?;
    } else {
        show(&report, out)?;
        out.line(format_args!("report: {}", path.display()))?;
    }
    Ok(match report.status {
        Status::Passed => Exit::Good,
        Status::Interrupted => Exit::Interrupted,
        Status::Failed | Status::Incomplete => Exit::Bad,
    })
}

fn show(report: &Report, out: &mut Output) -> Result<(), Failure> {
    let width = report.operations.iter().map(|o| o.operation.len()).max().unwrap_or(0);
    for operation in &report.operations {
        let tone = if operation.counts.is_success() { Tone::Good } else { Tone::Bad };
        let counts = out.tone(tone, &words(&operation.counts));
        out.line(format_args!("{:width$}  {counts}", operation.operation))?;
    }
    let bad: Vec<&CaseReport> =
        report.operations.iter().flat_map(|o| o.cases.iter()).filter(|case| !case.verdict.is_acceptable()).collect();
    for case in bad.iter().take(SHOWN) {
        let name = case.implementation.as_ref().map_or("-", |i| i.name.as_str());
        out.line("")?;
        out.line(format_args!("{} {} {name}", out.tone(Tone::Bad, case.verdict.name()), case.id))?;
        let reason = case.verdict.reason();
        for text in reason.iter().chain(case.findings.iter().map(|f| &f.text)) {
            out.line(format_args!("  {text}"))?;
        }
        out.line(format_args!("  {}", case.reproduce))?;
    }
    if bad.len() > SHOWN {
        out.line(format_args!("\nand {} more", bad.len() - SHOWN))?;
    }
    let (tone, word) = match report.status {
        Status::Passed => (Tone::Good, "passed"),
        Status::Interrupted => (Tone::Warn, "interrupted"),
        Status::Failed | Status::Incomplete => (Tone::Bad, "failed"),
    };
    let word = out.tone(tone, word);
    out.line(format_args!("{word}: {} in {:.1} s", words(&report.counts), report.elapsed_ms / 1e3))
}
