// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Running suites.
//!
//! [`run`] plans first (which cases, which implementations; metadata alone), then prepares and judges one case at a time,
//! writing the report as it goes; [`crate::distributed`] does so on several ranks at once. An interrupt ends the run after the call in progress and keeps what was judged.

mod error;
mod plan;

pub use error::RunError;
pub use plan::{PlannedCase, PlannedOperation, Task, plan};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opweave_device::Device;
use opweave_registry::{ExecutionMode, FrozenRegistry};

use crate::config::{Config, Mode};
use crate::harness::{CaseError, How, Judgement, PrepareOn, PreparedSource, verdict};
use crate::input::{Generator, RealSource};
use crate::number::Number;
use crate::progress::{Interrupt, Progress};
use crate::report::{CaseReport, DeviceEnvironment, Environment, OperationReport, Report, ReportFile};
use crate::suite::SuiteSet;
use crate::verdict::Verdict;

/// What a run stands on.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The rows.
    pub registry: &'a FrozenRegistry,
    /// The suites.
    pub suites: &'a SuiteSet,
    /// The device, or why there is none: then every case is `not_run` for that reason.
    pub device: Result<&'a Arc<dyn Device>, &'a str>,
    /// Threads of the caller's pool, for the report.
    pub threads: Option<usize>,
    /// Who may stop the run.
    pub interrupt: &'a Interrupt,
}

/// Validates what `config` asks for and answers the report, which was also written to `config.output`.
///
/// # Errors
/// [`RunError`] for a request that names something unknown, inputs that cannot be read, or a report that cannot be written.
/// What is wrong with an implementation is in the report.
pub fn run(config: &Config, ground: &Ground<'_>, progress: &mut dyn Progress) -> Result<Report, RunError> {
    let start = Instant::now();
    let generator = generator(config)?;
    let operations = plan(config, ground)?;
    let mut environment = Environment::probe(config.revision.as_deref(), config.rustc.as_deref());
    environment.device = device_environment(config, ground);
    let mut report = Report::new(config, environment);
    let mut file = ReportFile::new(config.output.clone());
    progress.started(operations.iter().map(PlannedOperation::tasks).sum());
    let mut interrupted = false;
    'run: for operation in &operations {
        progress.operation(operation.operation, operation.tasks());
        report.operations.push(OperationReport {
            operation: operation.operation.to_owned(),
            counts: Default::default(),
            selection: operation.selection.clone(),
            cases: Vec::new(),
        });
        for note in &operation.notes {
            progress.note(note);
            report.notes.push(note.clone());
        }
        for case in &operation.cases {
            let mut fixture = None;
            for task in &case.tasks {
                interrupted = ground.interrupt.requested();
                if interrupted {
                    break 'run;
                }
                let implementation = task.row.map_or("none", |row| row.spec().name.as_str());
                progress.case(operation.operation, &case.info.label, implementation);
                let judged = judge(config, ground, &generator, operation, case, task, &mut fixture);
                let Some(judged) = judged else {
                    interrupted = true;
                    break 'run;
                };
                progress.judged(operation.operation, &judged);
                judged.implementation.iter().for_each(|implementation| report.environment.note(implementation));
                report.push_case(judged);
                report.elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
                file.update(&report)?;
            }
        }
    }
    report.elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
    report.environment.close();
    report.conclude(interrupted);
    progress.finished();
    file.finish(&report)?;
    Ok(report)
}

/// The generator of a run: opens the tensors file if there is one.
pub(crate) fn generator(config: &Config) -> Result<Generator, RunError> {
    let open = |path: &PathBuf| RealSource::open(path).map(Arc::new);
    let real = config.tensors.as_ref().map(open).transpose().map_err(crate::input::InputError::from)?;
    Ok(Generator::new(config.seed, config.grade, real)?)
}

pub(crate) fn device_environment(config: &Config, ground: &Ground<'_>) -> DeviceEnvironment {
    match ground.device {
        Ok(device) => {
            let info = device.info();
            DeviceEnvironment {
                id: info.id.to_string(),
                name: info.name.clone(),
                key: info.key.to_string(),
                uuid: info.uuid.clone(),
                driver: info.driver.clone(),
                runtime: info.runtime.clone(),
                clocks: "unknown".to_owned(),
                threads: ground.threads,
            }
        }
        Err(_) => DeviceEnvironment { id: config.device.clone(), clocks: "unknown".to_owned(), ..Default::default() },
    }
}

/// Judges one case on one implementation; `None` when the run was interrupted meanwhile. `fixture` is kept between the
/// implementations of a case.
pub(crate) fn judge(
    config: &Config,
    ground: &Ground<'_>,
    generator: &Generator,
    operation: &PlannedOperation<'_>,
    case: &PlannedCase<'_>,
    task: &Task<'_>,
    fixture: &mut Option<Box<dyn PreparedSource>>,
) -> Option<CaseReport> {
    let start = Instant::now();
    let mut report = blank(config, operation, case, task);
    let ready = match (&task.settled, task.row, ground.device) {
        (None, Some(row), Ok(device)) => (row, device),
        (settled, _, _) => {
            let none = || Verdict::NotRun { reason: "no implementation".to_owned() };
            report.verdict = settled.clone().unwrap_or_else(none);
            return Some(report);
        }
    };
    let limit = Duration::from_millis(config.case_limit_ms);
    let watch = || {
        if ground.interrupt.requested() {
            return Err(CaseError::Interrupted);
        }
        if start.elapsed() > limit {
            return Err(CaseError::TimedOut { limit_ms: config.case_limit_ms });
        }
        Ok(())
    };
    let outcome = validate(config, ground, generator, operation, case, ready, &watch, fixture, &mut report);
    report.elapsed_ms = Number(start.elapsed().as_secs_f64() * 1e3);
    match outcome {
        Err(CaseError::Interrupted) => return None,
        Err(error) => report.verdict = error.verdict(),
        Ok(judgement) => {
            let constant = case.info.parameters.get("constant").map(String::as_str);
            report.verdict = verdict(&judgement, constant);
            if ready.0.spec().solution == "reference" && report.verdict == Verdict::Passed {
                let reason = "the reference agrees with itself, which proves nothing".to_owned();
                report.verdict = Verdict::Mistrusted { reason };
            }
            report.findings = judgement.findings;
            report.leaves = judgement.leaves;
        }
    }
    Some(report)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one step, each of another life")]
fn validate(
    config: &Config,
    ground: &Ground<'_>,
    generator: &Generator,
    operation: &PlannedOperation<'_>,
    case: &PlannedCase<'_>,
    (row, device): (&opweave_registry::Row, &Arc<dyn Device>),
    watch: &dyn Fn() -> Result<(), CaseError>,
    fixture: &mut Option<Box<dyn PreparedSource>>,
    report: &mut CaseReport,
) -> Result<Judgement, CaseError> {
    let source = match fixture {
        Some(source) => source,
        None => fixture.insert(case.case.fixture(generator)?),
    };
    watch()?;
    report.inputs = source.origins().to_vec();
    let mode = execution_mode(config.mode);
    let considered = &operation.considered[case.selection];
    let on = PrepareOn { device, row, mode, generation: ground.registry.generation(), considered };
    let mut prepared = source.prepare(&on)?;
    report.implementation = Some(prepared.implementation().clone());
    report.preparation_us = Number(prepared.preparation_us());
    watch()?;
    let how = How {
        graph: config.mode == Mode::Graph,
        repeat: config.repeat.max(1),
        batch_invariance: config.batch_invariance,
        watch,
    };
    prepared.validate(&how)
}

/// The registry's word for a mode.
pub(crate) fn execution_mode(mode: Mode) -> ExecutionMode {
    match mode {
        Mode::Eager => ExecutionMode::Eager,
        Mode::Graph => ExecutionMode::Graph,
    }
}

pub(crate) fn blank(
    config: &Config,
    operation: &PlannedOperation<'_>,
    case: &PlannedCase<'_>,
    task: &Task<'_>,
) -> CaseReport {
    let name = task.row.map(|row| row.spec().name.clone());
    let implementation = task.row.map(|row| {
        let spec = row.spec();
        crate::report::Implementation {
            name: spec.name.clone(),
            solution: format!("{}.{}", spec.device, spec.solution),
            variant: spec.variant.clone(),
            binding: spec.binding.clone(),
            deterministic: spec.deterministic,
            batch_invariant: spec.batch_invariant,
            launch: BTreeMap::new(),
        }
    });
    CaseReport {
        id: case.info.id(config.seed),
        label: case.info.label.clone(),
        tier: case.info.tier,
        grade: case.info.grade.unwrap_or(config.grade),
        parameters: case.info.parameters.clone(),
        implementation,
        verdict: Verdict::NotRun { reason: "not reached".to_owned() },
        ranks: Vec::new(),
        findings: Vec::new(),
        leaves: Vec::new(),
        inputs: Vec::new(),
        preparation_us: Number(0.0),
        elapsed_ms: Number(0.0),
        reproduce: config.command_for(operation.operation, &case.info.label, name.as_deref()),
    }
}
