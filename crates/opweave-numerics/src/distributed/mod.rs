// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Running suites on several ranks at once.
//!
//! All ranks judge the same case, then tell each other. What one came to, be it an error, a panic or a wish to stop, reaches
//! the others as its word on this case, so none waits for a word that does not come. A rank that dies or falls silent is a
//! matter of [`Ranks`], which ends the run for all.

mod consensus;
mod statement;

pub use consensus::consensus;
pub use statement::{digest, statement};

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use opweave_ranks::{Ranks, RanksError, Unable, agree};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use statement::cases;

use crate::config::Config;
use crate::harness::PreparedSource;
use crate::input::Generator;
use crate::progress::Progress;
use crate::report::{
    CaseReport, Distributed, Environment, Finding, FindingKind, OperationReport, RankProcess, RankVerdict, Report,
    ReportFile, SCHEMA_VERSION, rank_path,
};
use crate::run::{
    Ground, PlannedCase, PlannedOperation, RunError, Task, blank, device_environment, generator, judge, plan,
};
use crate::verdict::Verdict;

/// Longest reason that a rank tells the others; its own report has all of it.
const TOLD: usize = 2000;

/// A rank's word on a case.
#[derive(Serialize, Deserialize)]
struct Word {
    /// None where it stopped before it had one.
    verdict: Option<Verdict>,
    finding: Option<String>,
}

/// The two reports of a rank: its own, and that of all, which every rank has and rank 0 writes.
struct Books {
    own: Report,
    own_file: ReportFile,
    all: Report,
    all_file: ReportFile,
}

/// Validates what `config` asks for on every rank of `ranks` and answers what they came to together: the same on all of them,
/// but for what only this rank knows of a case. Each writes its own report beside `config.output`, as [`rank_path`] says, and
/// rank 0 writes that of all there.
///
/// # Errors
/// [`RunError`], as [`crate::run()`], and [`RunError::Disagreement`] or [`RunError::Ranks`] where the ranks do not begin or do not
/// go on together. These are the same on all ranks.
pub fn run(
    config: &Config,
    ground: &Ground<'_>,
    ranks: &mut dyn Ranks,
    progress: &mut dyn Progress,
) -> Result<Report, RunError> {
    let start = Instant::now();
    let mut environment = Environment::probe(config.revision.as_deref(), config.rustc.as_deref());
    environment.device = device_environment(config, ground);
    let ready = generator(config).and_then(|generator| {
        let operations = plan(config, ground)?;
        // A place that cannot be written is found out before the run.
        let mut books = Books::new(config, &environment, &*ranks);
        books.update()?;
        Ok((generator, operations, books))
    });
    let mine = match &ready {
        Ok((_, operations, _)) => {
            let mut statement = statement(config, ground, &environment);
            statement.insert("command".to_owned(), "numerics".to_owned());
            statement.insert("schema_version".to_owned(), SCHEMA_VERSION.to_string());
            statement.insert("cases".to_owned(), cases(operations));
            Ok(statement)
        }
        Err(error) => Err(Unable { reason: error.to_string(), exit_code: error.exit_code() }),
    };
    agree(ranks, mine)?;
    let (generator, operations, mut books) = ready?;
    let outcome = introduce(config, &mut books, ranks)
        .and_then(|()| books.fill(config, ground, &generator, &operations, ranks, progress, start));
    let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
    let interrupted = match outcome {
        Ok(interrupted) => interrupted,
        Err(error) => {
            // What there is stays, as that of a run that did not end.
            for report in [&mut books.own, &mut books.all] {
                report.notes.push(format!("the run broke off: failed to {error}"));
                report.elapsed_ms = elapsed_ms;
            }
            books.finish()?;
            return Err(error);
        }
    };
    for report in [&mut books.own, &mut books.all] {
        report.elapsed_ms = elapsed_ms;
        report.environment.close();
        report.conclude(interrupted);
    }
    progress.finished();
    recorded(ranks, books.finish().map_err(|error| error.to_string()))?;
    Ok(books.all)
}

/// Tells the others whether this rank's reports are written: a run whose record is not whole is none, on any rank.
///
/// # Errors
/// [`RunError::Record`] with the ranks that could not.
pub fn recorded(ranks: &mut dyn Ranks, mine: Result<(), String>) -> Result<(), RunError> {
    let told: Vec<Option<String>> = tell(ranks, "record", &mine.err())?;
    let mut lacking = told.into_iter().enumerate().filter_map(|(rank, why)| Some((rank, why?)));
    match lacking.next() {
        Some((rank, reason)) => Err(RunError::Record { rank, reason }),
        None => Ok(()),
    }
}

/// Tells all ranks a value, and answers those of all.
///
/// # Errors
/// [`RanksError`].
pub fn tell<T: Serialize + DeserializeOwned>(
    ranks: &mut dyn Ranks,
    topic: &str,
    mine: &T,
) -> Result<Vec<T>, RanksError> {
    let broken = |error: serde_json::Error| RanksError::Broken { topic: topic.to_owned(), reason: error.to_string() };
    let text = serde_json::to_string(mine).map_err(broken)?;
    ranks.exchange(topic, &text)?.iter().map(|text| serde_json::from_str(text).map_err(broken)).collect()
}

/// The ranks of a run, each with its process and the file of its report.
///
/// # Errors
/// [`RanksError`].
pub fn introductions(config: &Config, ranks: &mut dyn Ranks) -> Result<Vec<RankProcess>, RanksError> {
    let path = config.output.as_ref().map(|path| rank_path(path, ranks.rank()));
    let here = RankProcess::here(ranks.rank(), &config.device, path.as_deref());
    tell(ranks, "introduction", &here)
}

fn introduce(config: &Config, books: &mut Books, ranks: &mut dyn Ranks) -> Result<(), RunError> {
    let processes = introductions(config, ranks)?;
    for distributed in [&mut books.own.distributed, &mut books.all.distributed].into_iter().flatten() {
        distributed.ranks.clone_from(&processes);
    }
    Ok(())
}

impl Books {
    fn new(config: &Config, environment: &Environment, ranks: &dyn Ranks) -> Books {
        let blank = |rank: Option<usize>| {
            let mut report = Report::new(config, environment.clone());
            report.command.push_str(" --distributed");
            report.distributed = Some(Distributed { size: ranks.size(), rank, ranks: Vec::new() });
            report
        };
        let own_path = config.output.as_ref().map(|path| rank_path(path, ranks.rank()));
        let all_path = config.output.clone().filter(|_| ranks.rank() == 0);
        Books {
            own: blank(Some(ranks.rank())),
            own_file: ReportFile::new(own_path),
            all: blank(None),
            all_file: ReportFile::new(all_path),
        }
    }

    fn update(&mut self) -> Result<(), RunError> {
        self.own_file.update(&self.own)?;
        Ok(self.all_file.update(&self.all)?)
    }

    fn finish(&mut self) -> Result<(), RunError> {
        self.own_file.finish(&self.own)?;
        Ok(self.all_file.finish(&self.all)?)
    }

    /// Judges every case on every rank; answers whether the run was interrupted.
    #[expect(clippy::too_many_arguments, reason = "the parts of one run, each of another life")]
    fn fill(
        &mut self,
        config: &Config,
        ground: &Ground<'_>,
        generator: &Generator,
        operations: &[PlannedOperation<'_>],
        ranks: &mut dyn Ranks,
        progress: &mut dyn Progress,
        start: Instant,
    ) -> Result<bool, RunError> {
        progress.started(operations.iter().map(PlannedOperation::tasks).sum());
        for operation in operations {
            progress.operation(operation.operation, operation.tasks());
            for report in [&mut self.own, &mut self.all] {
                report.operations.push(OperationReport {
                    operation: operation.operation.to_owned(),
                    counts: Default::default(),
                    selection: operation.selection.clone(),
                    cases: Vec::new(),
                });
                report.notes.extend(operation.notes.iter().cloned());
            }
            operation.notes.iter().for_each(|note| progress.note(note));
            for case in &operation.cases {
                let mut fixture = None;
                for task in &case.tasks {
                    let implementation = task.row.map_or("none", |row| row.spec().name.as_str());
                    progress.case(operation.operation, &case.info.label, implementation);
                    let own = caught(config, ground, generator, operation, case, task, &mut fixture);
                    let topic = format!("{} on {implementation}", case.info.id(config.seed));
                    let Some((own, all)) = settle(ranks, &topic, own)? else { return Ok(true) };
                    progress.judged(operation.operation, &all);
                    for (report, case) in [(&mut self.own, own), (&mut self.all, all)] {
                        case.implementation.iter().for_each(|i| report.environment.note(i));
                        report.push_case(case);
                        report.elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
                    }
                    self.update()?;
                }
            }
        }
        Ok(false)
    }
}

/// Judges one case; a panic is an error of the case. `None` when this rank was told to stop.
fn caught(
    config: &Config,
    ground: &Ground<'_>,
    generator: &Generator,
    operation: &PlannedOperation<'_>,
    case: &PlannedCase<'_>,
    task: &Task<'_>,
    fixture: &mut Option<Box<dyn PreparedSource>>,
) -> Option<CaseReport> {
    if ground.interrupt.requested() {
        return None;
    }
    let judging = AssertUnwindSafe(|| judge(config, ground, generator, operation, case, task, fixture));
    catch_unwind(judging).unwrap_or_else(|panic| {
        // Nobody knows what state it was left in.
        *fixture = None;
        let mut report = blank(config, operation, case, task);
        report.verdict = Verdict::Error { reason: panicked(&*panic) };
        Some(report)
    })
}

/// A panic in words.
pub fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    format!("it panicked: {}", text.unwrap_or("without a word"))
}

/// The verdicts of all ranks, in their order; `None` where one of them stops.
///
/// # Errors
/// [`RanksError`].
pub fn verdicts(
    ranks: &mut dyn Ranks,
    topic: &str,
    mine: Option<(&Verdict, Option<&str>)>,
) -> Result<Option<Vec<RankVerdict>>, RanksError> {
    let cut = |text: &str| text.chars().take(TOLD).collect::<String>();
    let word = Word {
        verdict: mine.map(|(verdict, _)| match verdict {
            Verdict::NotApplicable { reason } => Verdict::NotApplicable { reason: cut(reason) },
            Verdict::NotRun { reason } => Verdict::NotRun { reason: cut(reason) },
            Verdict::Error { reason } => Verdict::Error { reason: cut(reason) },
            Verdict::Mistrusted { reason } => Verdict::Mistrusted { reason: cut(reason) },
            other => other.clone(),
        }),
        finding: mine.and_then(|(_, finding)| finding).map(cut),
    };
    let told = tell(ranks, topic, &word)?;
    let one =
        |(rank, word): (usize, Word)| word.verdict.map(|verdict| RankVerdict { rank, verdict, finding: word.finding });
    Ok(told.into_iter().enumerate().map(one).collect())
}

/// This rank's report of a case, and that of all.
fn settle(
    ranks: &mut dyn Ranks,
    topic: &str,
    own: Option<CaseReport>,
) -> Result<Option<(CaseReport, CaseReport)>, RanksError> {
    let mine = own.as_ref().map(|case| (&case.verdict, case.findings.first().map(|finding| finding.text.as_str())));
    let verdicts = verdicts(ranks, topic, mine)?;
    let (Some(own), Some(verdicts)) = (own, verdicts) else { return Ok(None) };
    let mut all = own.clone();
    all.verdict = consensus(&verdicts);
    if verdicts.iter().any(|v| v.verdict.name() != verdicts[0].verdict.name()) {
        let unlike = verdicts.iter().map(|v| Finding { kind: FindingKind::Ranks, text: v.words() });
        all.findings.splice(0..0, unlike);
    }
    all.ranks = verdicts;
    Ok(Some((own, all)))
}
