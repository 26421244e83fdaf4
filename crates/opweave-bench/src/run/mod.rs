// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Running a benchmark of single operators.
//!
//! [`run`] plans from metadata, then takes one case at a time: validate, time in each cache state, measure the ceiling at
//! the same bytes, write the report. A case that did not pass carries no time. An interrupt ends the run after the call
//! in progress and keeps every row that was whole. [`run_distributed`] does so on several ranks at once.

mod ahead;
mod arrange;
mod carousel;
mod case;
mod cold;
mod config;
mod distributed;
mod external;
mod plan;
mod progress;
mod ready;
mod series;
mod subject;

pub use config::{BenchConfig, BenchError, BenchGround};
pub use distributed::run_distributed;
pub use external::greet;
pub use progress::{BenchProgress, Quiet};

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use opweave_numerics::RunError;
use opweave_numerics::input::{ALGORITHM, Generator, RealSource};
use opweave_numerics::report::{DeviceEnvironment, Environment, write_atomically};

use crate::ceilings::{Ceilings, Probe};
use crate::instruments::DeviceProbe;
use crate::measurement::Timer;
use crate::report::{BenchReport, ReportError, Row, RowStatus, RunStatus, SCHEMA_VERSION, markdown, write};
use crate::sampler::HostClock;
use ahead::Ahead;
use case::Bench;
use external::Adapter;

/// How often the report is written while the run goes on: it grows with the run, and holds every sample.
const INTERVAL: Duration = Duration::from_secs(5);

/// Times what `config` asks for and answers the report, which was also written to `config.selectors.output`.
///
/// # Errors
/// [`BenchError`] for a request that names something unknown or cannot be timed, a device that is not there, or a report
/// that cannot be written. What is wrong with an implementation is in the report.
pub fn run(
    config: &BenchConfig,
    ground: &BenchGround<'_>,
    progress: &mut dyn BenchProgress,
) -> Result<BenchReport, BenchError> {
    let start = Instant::now();
    let selectors = &config.selectors;
    let absent = |reason: String| BenchError::Device { device: selectors.device.clone(), reason };
    let device = ground.numerics.device.map_err(|reason| absent(reason.to_owned()))?;
    let timer = config::timer(config, device.key().kind())?;
    let activity = config::activity(config, timer, &**device)?;
    let generator = generator(config)?;
    let planned = plan::plan(config, &ground.numerics, device.key())?;
    distinct(&planned)?;
    let stream = device.stream().map_err(|e| absent(e.to_string()))?;
    let activity = activity.as_deref();
    let records = activity.filter(|_| timer == Timer::Kernel);
    let of = |i| DeviceProbe::new(&**device, i, &*stream, ground.caches.last_level_bytes).by_kernels(records);
    let mut probe = ground.instruments.map(of);
    let mut report = blank(config, ground);
    let references = references(config)?;
    let bench = Bench { config, ground, stream: &*stream, timer, activity, clock: HostClock::default(), references };
    // A place that cannot be written is found out before the run, not after it.
    save(&report, selectors.output.as_deref())?;
    progress.started(planned.len());
    let known = config.multiply_add_gflop_per_s;
    let mut ceilings = Ceilings { multiply_add_gflop_per_s: known, ..Ceilings::default() };
    if let (Some(probe), None) = (&mut probe, known) {
        // Without this rate a report lacks one number, and says so; times do not depend on it.
        if let Err(error) = ceilings.measure_multiply_add(probe, &bench.clock, ground.numerics.interrupt) {
            tracing::warn!("no multiply-add rate: {error}");
        }
    }
    let mut written = Instant::now();
    let mut interrupted = false;
    std::thread::scope(|scope| -> Result<(), BenchError> {
        let mut fixtures = Ahead::new(scope, &generator, &planned, device.key().kind(), selectors.mode);
        for planned in &planned {
            interrupted = interrupted || ground.numerics.interrupt.requested();
            let fixture = if interrupted { None } else { fixtures.next() };
            let Some(fixture) = fixture else {
                report.rows.push(bench.blank(planned, &planned.ours, false));
                continue;
            };
            let name = planned.ours.row.as_ref().map_or("none", |row| row.spec().name.as_str());
            progress.case(planned.info.operation, &planned.info.label, name);
            let probe = probe.as_mut().map(|p| p as &mut dyn Probe);
            let (rows, stopped) = bench.case(planned, &mut ceilings, probe, fixture, progress);
            interrupted = stopped;
            progress.done(&rows);
            rows.iter().for_each(|row| report.environment.note(&row.implementation));
            report.rows.extend(rows);
            report.elapsed_s = start.elapsed().as_secs_f64();
            if written.elapsed() > INTERVAL {
                report.ceilings = Some(ceilings.clone());
                save(&report, selectors.output.as_deref())?;
                written = Instant::now();
            }
        }
        Ok(())
    })?;
    progress.finished();
    report.ceilings = ground.instruments.map(|_| ceilings);
    report.status = if interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
    report.elapsed_s = start.elapsed().as_secs_f64();
    report.environment.close();
    save(&report, selectors.output.as_deref())?;
    if let Some(path) = &selectors.output {
        write_atomically(&path.with_extension("md"), markdown(&report).as_bytes()).map_err(ReportError::from)?;
    }
    Ok(report)
}

/// The cases that [`run`] would time, a line for each: id, tier, implementation, baseline. Runs nothing.
///
/// # Errors
/// As [`run`] before its first case.
pub fn listed(config: &BenchConfig, ground: &BenchGround<'_>) -> Result<Vec<String>, BenchError> {
    let device = ground
        .numerics
        .device
        .map_err(|reason| BenchError::Device { device: config.selectors.device.clone(), reason: reason.to_owned() })?;
    let name = |choice: &plan::Choice<'_>| match &choice.row {
        Ok(row) => row.spec().name.clone(),
        Err(reason) => format!("({reason})"),
    };
    let line = |planned: &plan::Planned<'_>| {
        let baseline = planned.baseline.as_ref().map_or_else(String::new, |b| format!(" against {}", name(b)));
        let id = planned.info.id(config.selectors.seed);
        format!("{id} {} {}{baseline}", planned.info.tier, name(&planned.ours))
    };
    Ok(plan::plan(config, &ground.numerics, device.key())?.iter().map(line).collect())
}

/// Whether a run with these rows is a success: at least one was timed, and every other is one that does not apply.
#[must_use]
pub fn succeeded(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.status == RowStatus::Ok)
        && rows.iter().all(|row| matches!(row.status, RowStatus::Ok | RowStatus::Skip))
}

/// Refuses a baseline that is ours.
fn distinct(planned: &[plan::Planned<'_>]) -> Result<(), BenchError> {
    for case in planned {
        if let (Ok(ours), Some(Ok(baseline))) = (&case.ours.row, case.baseline.as_ref().map(|b| &b.row))
            && ours.spec().name == baseline.spec().name
        {
            let case = format!("{} {}", case.info.operation, case.info.label);
            return Err(BenchError::Baseline { implementation: ours.spec().name.clone(), case });
        }
    }
    Ok(())
}

/// The adapters that were named, none of which is started yet.
fn references(config: &BenchConfig) -> Result<Vec<RefCell<Adapter>>, BenchError> {
    let refused = |program: &Path, reason: String| {
        let program = program.display().to_string();
        Err(BenchError::Reference { program, reason })
    };
    let mut adapters = Vec::new();
    for (place, program) in config.references.iter().enumerate() {
        if !program.is_file() {
            return refused(program, "there is no such file".to_owned());
        }
        let Some(stem) = program.file_stem() else { return refused(program, "it has no name".to_owned()) };
        if config.references[..place].iter().any(|other| other.file_stem() == Some(stem)) {
            return refused(program, "another reference has the same name".to_owned());
        }
        let limit = Duration::from_millis(config.selectors.case_limit_ms);
        let cache = external::kept(&config.reference_cache, program);
        adapters.push(RefCell::new(Adapter::new(program, cache, &config.selectors.device, limit)));
    }
    Ok(adapters)
}

fn save(report: &BenchReport, path: Option<&Path>) -> Result<(), BenchError> {
    Ok(path.map_or(Ok(()), |path| write(report, path))?)
}

fn generator(config: &BenchConfig) -> Result<Generator, RunError> {
    let selectors = &config.selectors;
    let real = match &selectors.tensors {
        Some(path) => Some(Arc::new(RealSource::open(path).map_err(opweave_numerics::input::InputError::from)?)),
        None => None,
    };
    Ok(Generator::new(selectors.seed, selectors.grade, real)?)
}

fn blank(config: &BenchConfig, ground: &BenchGround<'_>) -> BenchReport {
    let selectors = &config.selectors;
    let mut environment = Environment::probe(selectors.revision.as_deref(), selectors.rustc.as_deref());
    if let Ok(device) = ground.numerics.device {
        let info = device.info();
        environment.device = DeviceEnvironment {
            id: info.id.to_string(),
            name: info.name.clone(),
            key: info.key.to_string(),
            uuid: info.uuid.clone(),
            driver: info.driver.clone(),
            runtime: info.runtime.clone(),
            // The host's frequency governor is not ours to read everywhere; what is unknown is said.
            clocks: "unknown".to_owned(),
            threads: ground.numerics.threads,
        };
    }
    BenchReport {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Running,
        command: config.command.clone(),
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        elapsed_s: 0.0,
        environment,
        caches: ground.caches.clone(),
        protocol: config.protocol.clone(),
        distributed: None,
        seed: selectors.seed,
        generator: ALGORITHM.to_owned(),
        ceilings: None,
        rows: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
