// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave numerics`.

use opweave_numerics::report::{CaseReport, Report, Status};
use opweave_numerics::suite::SuiteSet;
use opweave_numerics::{Config, Ground, Progress, RunError, Silent, distributed, plan};
use opweave_ranks::Rank;

use super::ground::{Base, config, output};
use super::ranks;
use crate::args::{NumericsArgs, SelectArgs};
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
    let rank = ranks::asked(&args.select)?;
    let path = output(&args.select, "numerics");
    let mut config = Config {
        repeat: args.repeat,
        batch_invariance: args.batch_invariance,
        ..config(&args.select, suite_arguments, path)
    };
    let base = ranks::or_tell(rank.as_ref(), &args.select, Base::new(&args.select))?;
    let ground = base.ground(suites);
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
    let report = match &rank {
        None => opweave_numerics::run(&config, &ground, &mut Drawn::new()).map_err(failed)?,
        Some(rank) => together(rank, &args.select, &mut config, &ground)?,
    };
    // What all ranks came to is said once.
    if rank.is_some_and(|rank| rank.rank != 0) {
        return Ok(ended(report.status));
    }
    if args.select.json {
        out.json(&report)?;
    } else {
        show(&report, out)?;
        if let Some(path) = &config.output {
            out.line(format_args!("report: {}", path.display()))?;
        }
    }
    Ok(ended(report.status))
}

fn failed(error: RunError) -> Failure {
    // These are fragments; those of a request read on their own.
    let fragment = matches!(error, RunError::Disagreement(_) | RunError::Ranks(_) | RunError::Record { .. });
    let text = if fragment { anyhow::anyhow!("failed to {error}") } else { anyhow::anyhow!("{error}") };
    if error.exit_code() == 2 { Failure::Usage(text) } else { Failure::Broken(text) }
}

/// The exit code, which is the same on all ranks.
fn ended(status: Status) -> Exit {
    match status {
        Status::Passed => Exit::Good,
        Status::Interrupted => Exit::Interrupted,
        Status::Failed | Status::Incomplete => Exit::Bad,
    }
}

/// Runs as one of several ranks.
fn together(rank: &Rank, args: &SelectArgs, config: &mut Config, ground: &Ground<'_>) -> Result<Report, Failure> {
    let mut member = ranks::join(rank, args)?;
    config.output = Some(ranks::output(args, "numerics", &mut member)?);
    let (mut drawn, mut silent) = (Drawn::new(), Silent);
    let progress: &mut dyn Progress = if rank.rank == 0 { &mut drawn } else { &mut silent };
    let outcome = distributed::run(config, ground, &mut member, progress);
    if matches!(outcome, Ok(_) | Err(RunError::Disagreement(_) | RunError::Record { .. })) {
        member.leave();
    }
    outcome.map_err(failed)
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
