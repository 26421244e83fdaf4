// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Timing on several ranks at once.
//!
//! All ranks validate a case and tell each other; only one that passed everywhere is timed. Then they take each sample
//! together: what must be put back is, all meet at a barrier, each takes its span. A sample of the run is the longest span.
//! An error, a panic or a wish to stop is a rank's word at the next barrier, so that none waits for one that does not come.

mod spans;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use opweave_device::DeviceKind;
use opweave_numerics::distributed::{consensus, introductions, panicked, recorded, statement, verdicts};
use opweave_numerics::input::Generator;
use opweave_numerics::report::{Distributed, RankVerdict, rank_path, write_atomically};
use opweave_numerics::{Mode, RunError, Verdict, distributed::digest};
use opweave_ranks::{Ranks, RanksError, Statement, Unable, agree};

use super::case::{Bench, settle, work};
use super::plan::{Planned, plan};
use super::ready::{Ready, ready};
use super::series::{Timed, series};
use super::{BenchConfig, BenchError, BenchGround, BenchProgress, blank, generator, save};
use crate::measurement::{Cache, Timer};
use crate::report::{BenchReport, ReportError, Row, RowStatus, RunStatus, SCHEMA_VERSION, Series, markdown};
use crate::sampler::{HostClock, Sample, SampleError, Taken};
use spans::{Outcome, Spans, spans};

/// The two reports of a rank: its own, and that of all, which every rank has and rank 0 writes.
struct Books {
    own: BenchReport,
    all: BenchReport,
}

/// Times what `config` asks for on every rank of `ranks`, and answers what they came to together, the same on all of them. Each
/// rank writes its own report beside the selectors' output, as [`rank_path`] says, and rank 0 writes that of all there.
///
/// # Errors
/// As [`super::run`], [`BenchError::Distributed`] for what such a run does not have, and where the ranks do not begin or do not
/// go on together. The latter are the same on all ranks.
pub fn run_distributed(
    config: &BenchConfig,
    ground: &BenchGround<'_>,
    ranks: &mut dyn Ranks,
    progress: &mut dyn BenchProgress,
) -> Result<BenchReport, BenchError> {
    let start = Instant::now();
    let mut books = Books::new(config, ground, &*ranks);
    let ready = prepare(config, ground, &books, &*ranks);
    let mine = match &ready {
        Ok((_, planned)) => Ok(said(config, ground, &books, planned)),
        Err(error) => Err(Unable { reason: error.to_string(), exit_code: error.exit_code() }),
    };
    agree(ranks, mine).map_err(RunError::from)?;
    let (generator, planned) = ready?;
    let outcome = books.fill(config, ground, &generator, &planned, ranks, progress, start);
    books.elapsed(start);
    let interrupted = match outcome {
        Ok(interrupted) => interrupted,
        Err(error) => {
            // What there is stays, as that of a run that did not end.
            books.save(config, &*ranks)?;
            return Err(error);
        }
    };
    for report in [&mut books.own, &mut books.all] {
        report.status = if interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
        report.environment.close();
    }
    progress.finished();
    let written = books.save(config, &*ranks).and_then(|()| books.read_well(config, &*ranks));
    recorded(ranks, written.map_err(|error| error.to_string()))?;
    Ok(books.all)
}

type Prepared<'a> = (Generator, Vec<Planned<'a>>);

/// All that can be refused before the others are asked.
fn prepare<'a>(
    config: &BenchConfig,
    ground: &BenchGround<'a>,
    books: &Books,
    ranks: &dyn Ranks,
) -> Result<Prepared<'a>, BenchError> {
    let selectors = &config.selectors;
    let absent = |reason: &str| BenchError::Device { device: selectors.device.clone(), reason: reason.to_owned() };
    let device = ground.numerics.device.map_err(absent)?;
    admissible(config, device.key().kind())?;
    let generator = generator(config)?;
    let planned = plan(config, &ground.numerics, device.key())?;
    // A place that cannot be written is found out before the run.
    books.save(config, ranks)?;
    Ok((generator, planned))
}

/// Refuses what a distributed run does not have.
fn admissible(config: &BenchConfig, kind: DeviceKind) -> Result<(), BenchError> {
    let refused =
        |what: &str, reason: &str| Err(BenchError::Distributed { what: what.to_owned(), reason: reason.to_owned() });
    match config.timer {
        None | Some(Timer::Distributed) => {}
        Some(timer) => return refused(&format!("--timer {timer}"), "`distributed` is its only timer"),
    }
    if config.selectors.mode == Mode::Graph {
        return refused("--mode graph", "its spans are of single calls, --mode eager");
    }
    if config.baseline.is_some() {
        return refused("--baseline", "implementations take turns over rounds, and it has one");
    }
    if !config.references.is_empty() {
        return refused("--reference", "implementations take turns over rounds, and it has one");
    }
    if kind != DeviceKind::Cpu {
        let reason = "a barrier on a device's stream comes with the collectives; ranks of `cpu` can be timed";
        return refused(&format!("--device {}", config.selectors.device), reason);
    }
    Ok(())
}

/// What all ranks must have in common.
fn said(config: &BenchConfig, ground: &BenchGround<'_>, books: &Books, planned: &[Planned<'_>]) -> Statement {
    let mut all = statement(&config.selectors, &ground.numerics, &books.own.environment);
    let cases: Vec<String> = planned
        .iter()
        .map(|case| {
            let row = case.ours.row.as_ref().map_or("none", |row| row.spec().name.as_str());
            format!("{} {} {row} {:?}", case.info.operation, case.info.label, case.info.parameters)
        })
        .collect();
    let caches: Vec<&str> = config.caches.iter().map(|cache| cache.name()).collect();
    let more = [
        ("command", "bench".to_owned()),
        ("schema_version", SCHEMA_VERSION.to_string()),
        ("cases", digest(&cases)),
        ("caches", caches.join(" ")),
        ("protocol", format!("{:?}", config.protocol)),
        ("timer", Timer::Distributed.to_string()),
        ("last_level_cache", ground.caches.last_level_bytes.to_string()),
    ];
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    all
}

impl Books {
    fn new(config: &BenchConfig, ground: &BenchGround<'_>, ranks: &dyn Ranks) -> Books {
        let mut all = blank(config, ground);
        all.distributed = Some(Distributed { size: ranks.size(), rank: None, ranks: Vec::new() });
        let mut own = all.clone();
        own.distributed = Some(Distributed { size: ranks.size(), rank: Some(ranks.rank()), ranks: Vec::new() });
        Books { own, all }
    }

    fn elapsed(&mut self, start: Instant) {
        let elapsed = start.elapsed().as_secs_f64();
        (self.own.elapsed_s, self.all.elapsed_s) = (elapsed, elapsed);
    }

    /// The reports that this rank writes, each with its place.
    fn placed<'a>(
        &'a self,
        config: &'a BenchConfig,
        ranks: &dyn Ranks,
    ) -> impl Iterator<Item = (&'a BenchReport, std::path::PathBuf)> {
        let path = config.selectors.output.as_ref();
        let own = path.map(|path| (&self.own, rank_path(path, ranks.rank())));
        let all = path.filter(|_| ranks.rank() == 0).map(|path| (&self.all, path.clone()));
        own.into_iter().chain(all)
    }

    fn save(&self, config: &BenchConfig, ranks: &dyn Ranks) -> Result<(), BenchError> {
        self.placed(config, ranks).try_for_each(|(report, path)| save(report, Some(&path)))
    }

    /// Writes the reports as Markdown.
    fn read_well(&self, config: &BenchConfig, ranks: &dyn Ranks) -> Result<(), BenchError> {
        self.placed(config, ranks).try_for_each(|(report, path)| {
            let written = write_atomically(&path.with_extension("md"), markdown(report).as_bytes());
            Ok(written.map_err(ReportError::from)?)
        })
    }

    /// Validates and times every case on every rank; answers whether the run was interrupted.
    #[expect(clippy::too_many_arguments, reason = "the parts of one run, each of another life")]
    fn fill(
        &mut self,
        config: &BenchConfig,
        ground: &BenchGround<'_>,
        generator: &Generator,
        planned: &[Planned<'_>],
        ranks: &mut dyn Ranks,
        progress: &mut dyn BenchProgress,
        start: Instant,
    ) -> Result<bool, BenchError> {
        let processes = introductions(&config.selectors, ranks).map_err(RunError::from)?;
        for distributed in [&mut self.own.distributed, &mut self.all.distributed].into_iter().flatten() {
            distributed.ranks.clone_from(&processes);
        }
        let absent = |reason: String| BenchError::Device { device: config.selectors.device.clone(), reason };
        let device = ground.numerics.device.map_err(|reason| absent(reason.to_owned()))?;
        let stream = device.stream().map_err(|error| absent(error.to_string()))?;
        let (timer, clock) = (Timer::Distributed, HostClock::default());
        let bench = Bench { config, ground, stream: &*stream, timer, activity: None, clock, references: Vec::new() };
        progress.started(planned.len());
        let mut interrupted = false;
        for planned in planned {
            let (mut own, mut all) =
                (bench.blank(planned, &planned.ours, false), bench.blank(planned, &planned.ours, false));
            if !interrupted {
                progress.case(planned.info.operation, &planned.info.label, &own.implementation.name);
                let mut case = Together { bench: &bench, planned, generator, own: &mut own, all: &mut all };
                interrupted = case.run(ranks, progress).map_err(RunError::from)?;
                progress.done(std::slice::from_ref(&all));
            }
            for (report, row) in [(&mut self.own, own), (&mut self.all, all)] {
                report.environment.note(&row.implementation);
                report.rows.push(row);
            }
            self.elapsed(start);
            self.save(config, &*ranks)?;
        }
        Ok(interrupted)
    }
}

/// One case on this rank and on all.
struct Together<'a> {
    bench: &'a Bench<'a>,
    planned: &'a Planned<'a>,
    generator: &'a Generator,
    own: &'a mut Row,
    all: &'a mut Row,
}

impl Together<'_> {
    /// Validates, and times what passed everywhere; answers whether a rank stops.
    fn run(&mut self, ranks: &mut dyn Ranks, progress: &mut dyn BenchProgress) -> Result<bool, RanksError> {
        progress.part("validate");
        let interrupt = self.bench.ground.numerics.interrupt;
        let made = (!interrupt.requested()).then(|| self.validate());
        // What was stopped within has no verdict.
        let made = made.filter(|_| !interrupt.requested());
        let topic = format!("{} on {}", self.own.case_id, self.own.implementation.name);
        let mine = made.as_ref().map(|made| (&made.verdict, made.finding.as_deref()));
        let Some(verdicts) = verdicts(ranks, &topic, mine)? else {
            return Ok(self.cancel());
        };
        let Some(made) = made else { return Ok(self.cancel()) };
        if let Some(prepared) = &made.prepared {
            for row in [&mut *self.own, &mut *self.all] {
                row.implementation = prepared.implementation().clone();
                row.preparation_us = Some(prepared.preparation_us());
            }
        }
        let agreed = consensus(&verdicts);
        settle(self.own, made.verdict.clone(), made.finding.clone());
        settle(self.all, agreed.clone(), verdicts.iter().find_map(|v| v.finding.clone()));
        self.unlike(&verdicts);
        let (true, Some(prepared)) = (agreed == Verdict::Passed, &made.prepared) else {
            if self.own.status == RowStatus::Ok {
                self.own.status = RowStatus::Fail;
                self.own.reason = Some(format!("not timed, since all ranks came to `{}`", agreed.name()));
            }
            return Ok(false);
        };
        for &cache in &self.bench.config.caches {
            progress.part(cache.name());
            match spans(self.bench, &**prepared, cache, ranks)? {
                Outcome::Taken(spans) => self.keep(cache, &spans),
                Outcome::Stopped => return Ok(self.cancel()),
                Outcome::Trouble(why) => {
                    self.fail(&why);
                    return Ok(false);
                }
            }
            if self.all.status != RowStatus::Ok {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// This rank's verdict; a panic is an error of the case.
    fn validate(&self) -> Ready {
        let (config, ground) = (self.bench.config, self.bench.ground);
        let validating = || match self.planned.case.fixture(self.generator) {
            Ok(source) => ready(config, ground, self.planned, &self.planned.ours, &*source),
            Err(error) => Ready { prepared: None, verdict: error.verdict(), finding: None },
        };
        catch_unwind(AssertUnwindSafe(validating)).unwrap_or_else(|panic| {
            let verdict = Verdict::Error { reason: panicked(&*panic) };
            Ready { prepared: None, verdict, finding: None }
        })
    }

    /// Tells of each rank where they are not of one mind.
    fn unlike(&mut self, verdicts: &[RankVerdict]) {
        if verdicts.iter().any(|v| v.verdict.name() != verdicts[0].verdict.name()) {
            let words: Vec<String> = verdicts.iter().map(RankVerdict::words).collect();
            self.all.reason = Some(words.join("; "));
        }
    }

    /// Both series of one cache state: this rank's spans, and the longest of each sample.
    fn keep(&mut self, cache: Cache, spans: &Spans) {
        let longest = spans.longest();
        let own = self.series(cache, spans, spans.own());
        let all = self.series(cache, spans, &longest);
        match (own, all) {
            (Ok(own), Ok(all)) => {
                self.own.series.extend(own);
                self.all.series.extend(all);
                self.all.notes.push(format!("{cache}: {}", spans.slowest()));
            }
            (Err(error), _) | (_, Err(error)) => self.fail(&error.to_string()),
        }
    }

    fn series(&self, cache: Cache, spans: &Spans, us: &[f64]) -> Result<Vec<Series>, SampleError> {
        let rounds = vec![us.iter().map(|&us| Sample::completion(us)).collect()];
        let taken = Taken { counts: spans::counts(), rounds, elapsed: spans.elapsed, no_verdict: None };
        series(&Timed {
            taken: &taken,
            timer: Timer::Distributed,
            cache,
            work: self.own.work.unwrap_or_else(|| work(self.planned.info.cost)),
            calls: 1,
            cache_method: spans.method.clone(),
            // Ranks of one host share what a ceiling is measured with, so there is none to hold them to.
            ceiling: None,
        })
    }

    fn fail(&mut self, why: &str) {
        for row in [&mut *self.own, &mut *self.all] {
            super::case::fail(row, why);
        }
    }

    fn cancel(&mut self) -> bool {
        for row in [&mut *self.own, &mut *self.all] {
            super::case::cancel(row);
        }
        true
    }
}
