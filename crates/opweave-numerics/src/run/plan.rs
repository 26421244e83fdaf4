// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which cases run on which implementations: decided from metadata alone.

use std::collections::BTreeMap;

use opweave_contract::{DynProblem, nearest};
use opweave_device::DeviceKey;
use opweave_registry::{Bucket, Considered, Domain, Reject, Row, Verdict as Looked};
use opweave_runtime::{Demands, Override, OverrideSource, Query, select};

use super::{Ground, RunError, execution_mode};
use crate::config::Config;
use crate::report::{Considered as Shown, ConsideredVerdict, Selection};
use crate::suite::{CaseInfo, DynCase, DynSuite, Glob, SuiteArguments};
use crate::verdict::Verdict;

/// One case on one implementation.
pub struct Task<'a> {
    /// The implementation; none where there is none to name.
    pub row: Option<&'a Row>,
    /// The verdict, where it is settled without running anything.
    pub settled: Option<Verdict>,
}

/// One case with its implementations.
pub struct PlannedCase<'a> {
    /// The case.
    pub case: Box<dyn DynCase>,
    /// What is known of it.
    pub info: CaseInfo,
    /// Index of its problem in the operation's selections.
    pub selection: usize,
    /// The implementations, in byte order of their names.
    pub tasks: Vec<Task<'a>>,
}

/// One operation's cases.
pub struct PlannedOperation<'a> {
    /// The operation.
    pub operation: &'static str,
    /// What selection said to each problem, for the report.
    pub selection: Vec<Selection>,
    /// The same as the registry has it.
    pub considered: Vec<Vec<Considered>>,
    /// The cases.
    pub cases: Vec<PlannedCase<'a>>,
    /// What a user should know.
    pub notes: Vec<String>,
}

impl PlannedOperation<'_> {
    /// Verdicts that the operation will have.
    pub fn tasks(&self) -> usize {
        self.cases.iter().map(|case| case.tasks.len()).sum()
    }
}

/// Plans a run: needs no device and prepares nothing.
///
/// # Errors
/// [`RunError`] for names that nothing bears, values out of range, and suite arguments.
pub fn plan<'a>(config: &Config, ground: &Ground<'a>) -> Result<Vec<PlannedOperation<'a>>, RunError> {
    if config.repeat == 0 {
        return Err(RunError::Repeat { repeat: 0 });
    }
    let suites = suites(config, ground)?;
    let declared: Vec<_> = suites.iter().flat_map(|suite| suite.arguments()).copied().collect();
    SuiteArguments::check_known(&declared, &config.suite_arguments)?;
    let glob = config.label.as_ref().map(|label| Glob::new(label.clone()));
    let mut labels = Vec::new();
    let mut planned = Vec::new();
    for suite in &suites {
        let named = named(config, ground, suite.operation(), suites.len() > 1)?;
        let mut cases = suite.cases(&config.suite_arguments)?;
        cases.extend(generated(*suite, ground));
        let mut operation = PlannedOperation {
            operation: suite.operation(),
            selection: Vec::new(),
            considered: Vec::new(),
            cases: Vec::new(),
            notes: Vec::new(),
        };
        for case in cases {
            let info = case.info();
            labels.push(info.label.clone());
            let wanted = info.tier <= config.tier && glob.as_ref().is_none_or(|glob| glob.matches(&info.label));
            if wanted {
                operation.add(config, ground, named.as_ref(), case, info);
            }
        }
        planned.push(operation);
    }
    if let (Some(label), true) = (&config.label, planned.iter().all(|operation| operation.cases.is_empty())) {
        let near = nearest(label, labels.iter().map(String::as_str));
        return Err(RunError::Label {
            operations: suites.iter().map(|s| s.operation()).collect::<Vec<_>>().join(", "),
            label: label.clone(),
            tier: config.tier.name().to_owned(),
            hint: near.map_or_else(String::new, |n| format!("; did you mean `{n}`?")),
        });
    }
    planned.retain(|operation| !operation.cases.is_empty());
    Ok(planned)
}

/// The suites asked for, in byte order.
fn suites<'a>(config: &Config, ground: &Ground<'a>) -> Result<Vec<&'a dyn DynSuite>, RunError> {
    for name in &config.operations {
        if ground.suites.get(name).is_none() {
            let hint = nearest(name, ground.suites.operations());
            return Err(RunError::Operation {
                name: name.clone(),
                known: ground.suites.operations().collect::<Vec<_>>().join(", "),
                hint: hint.map_or_else(String::new, |n| format!("; did you mean `{n}`?")),
            });
        }
    }
    let asked = |suite: &&dyn DynSuite| {
        config.operations.is_empty() || config.operations.iter().any(|name| name == suite.operation())
    };
    Ok(ground.suites.iter().filter(asked).collect())
}

/// The implementation asked for, as an override of the operation. With several operations one that lacks it is left alone,
/// as long as it is known somewhere.
fn named(config: &Config, ground: &Ground<'_>, operation: &str, several: bool) -> Result<Option<Override>, RunError> {
    let Some(value) = config.implementation.as_ref().map(|text| text.trim()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let named = Override { value: value.to_owned(), source: OverrideSource::Argument };
    let elsewhere = || {
        ground.registry.operations().any(|other| {
            let full = named.is_full_name(ground.registry, other.operation);
            ground.registry.rows_of(other.operation).any(|row| named.matches(row, full))
        })
    };
    match named.check(ground.registry, operation) {
        Err(_) if several && elsewhere() => Ok(Some(named)),
        checked => Ok(checked.map(|()| Some(named))?),
    }
}

/// Cases that the implementations' own needs ask for: both sides of every boundary, and each promise kept exactly.
fn generated(suite: &dyn DynSuite, ground: &Ground<'_>) -> Vec<Box<dyn DynCase>> {
    let kind = ground.device.ok().map(|device| device.key().kind());
    let rows = || ground.registry.rows_of(suite.operation()).filter(|row| Some(row.spec().device) == kind);
    let mut boundaries: Vec<_> = rows().flat_map(|row| row.spec().needs.boundaries()).collect();
    boundaries.sort_unstable();
    boundaries.dedup();
    let promised = |domain: &Domain| match domain {
        Domain::Promise(argument, promise) => Some((*argument, *promise)),
        _ => None,
    };
    let mut promises: Vec<_> = rows().flat_map(|row| row.spec().needs.domains()).filter_map(promised).collect();
    promises.sort_unstable_by_key(|(argument, promise)| (*argument, promise.alignment, promise.contiguous));
    promises.dedup();
    let mut cases = suite.boundary_cases(&boundaries);
    cases.extend(suite.promise_cases(&promises));
    cases
}

impl<'a> PlannedOperation<'a> {
    fn add(
        &mut self,
        config: &Config,
        ground: &Ground<'a>,
        named: Option<&Override>,
        case: Box<dyn DynCase>,
        info: CaseInfo,
    ) {
        let device = match ground.device {
            Ok(device) => device,
            Err(reason) => {
                let settled = Some(Verdict::NotRun { reason: reason.to_owned() });
                if self.considered.is_empty() {
                    self.considered.push(Vec::new());
                }
                self.cases.push(PlannedCase { case, info, selection: 0, tasks: vec![Task { row: None, settled }] });
                return;
            }
        };
        let selection = self.select(config, ground, device.key(), &case.problem());
        let full_name = named.is_some_and(|n| n.is_full_name(ground.registry, self.operation));
        let mut tasks = Vec::new();
        for looked in &self.considered[selection] {
            let Some(row) = ground.registry.row(&looked.name) else { continue };
            if named.is_some_and(|n| !n.matches(row, full_name)) {
                continue;
            }
            tasks.extend(task(row, &looked.verdict, named.is_some()));
        }
        // An operation that lacks the implementation asked for has nothing to say.
        if tasks.is_empty() && named.is_none() {
            let reason = format!("no implementation is available on {}", config.device);
            tasks.push(Task { row: None, settled: Some(Verdict::NotRun { reason }) });
        }
        if !tasks.is_empty() {
            self.cases.push(PlannedCase { case, info, selection, tasks });
        }
    }

    /// Index of the problem's selection, made on first sight.
    fn select(&mut self, config: &Config, ground: &Ground<'_>, key: &DeviceKey, problem: &DynProblem) -> usize {
        let text = problem.facts().to_string();
        if let Some(index) = self.selection.iter().position(|s| s.problem == text) {
            return index;
        }
        let query = Query {
            operation: self.operation,
            problem: Some(problem),
            bucket: Bucket::ALL,
            key,
            mode: execution_mode(config.mode),
            demands: Demands::default(),
            overriding: None,
            profile: None,
        };
        let (selected, considered) = match select(ground.registry, &query) {
            Ok(selection) => (Some(selection.row.spec().name.clone()), selection.considered),
            Err(error) => (None, error.considered),
        };
        let shown = considered.iter().map(|looked| Shown {
            name: looked.name.clone(),
            verdict: match &looked.verdict {
                Looked::Chosen { rank } | Looked::Eligible { rank } => ConsideredVerdict::Eligible { rank: *rank },
                Looked::Rejected(reason) => ConsideredVerdict::Rejected { reason: reason.to_string() },
            },
        });
        self.selection.push(Selection { problem: text, selected, considered: shown.collect() });
        self.considered.push(considered);
        self.considered.len() - 1
    }
}

/// What becomes of a row in a case: it runs, its verdict is settled, or it is passed over. A row that this machine lacks is
/// passed over unless it was asked for by name; the report's selection names it in any case. The reference is not validated
/// against itself unless it was asked for.
fn task<'a>(row: &'a Row, looked: &Looked, asked: bool) -> Option<Task<'a>> {
    let settled = match looked {
        Looked::Chosen { .. } | Looked::Eligible { .. } if asked || row.spec().solution != "reference" => None,
        Looked::Chosen { .. } | Looked::Eligible { .. } => return None,
        Looked::Rejected(reason) => {
            let absent = reason.is_availability()
                || matches!(reason, Reject::Device { .. } | Reject::Feature { .. } | Reject::Target { .. });
            let reason = reason.to_string();
            match (absent, asked) {
                (true, false) => return None,
                (true, true) => Some(Verdict::NotRun { reason }),
                (false, false) if row.spec().solution == "reference" => return None,
                (false, _) => Some(Verdict::NotApplicable { reason }),
            }
        }
    };
    Some(Task { row: Some(row), settled })
}

/// What a plan comes to, by operation: how many cases on how many implementations.
impl std::fmt::Debug for PlannedOperation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for task in self.cases.iter().flat_map(|case| &case.tasks) {
            *rows.entry(task.row.map_or("none", |row| row.spec().name.as_str())).or_default() += 1;
        }
        write!(f, "{}: {} cases on {rows:?}", self.operation, self.cases.len())
    }
}
