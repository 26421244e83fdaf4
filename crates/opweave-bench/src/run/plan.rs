// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which cases are timed on which implementation: decided from metadata alone, before anything runs.

use opweave_contract::nearest;
use opweave_device::DeviceKey;
use opweave_numerics::suite::{CaseInfo, DynCase, DynSuite, Glob};
use opweave_numerics::{Config, Ground, Mode, RunError};
use opweave_registry::{Bucket, Considered, ExecutionMode, Row, Verdict};
use opweave_runtime::{Demands, Override, OverrideSource, Query, select};

use super::BenchConfig;

/// One case with the rows that are timed on it.
pub(super) struct Planned<'a> {
    pub(super) case: Box<dyn DynCase>,
    pub(super) info: CaseInfo,
    /// The implementation, or why there is none.
    pub(super) ours: Choice<'a>,
    /// The one it takes turns with.
    pub(super) baseline: Option<Choice<'a>>,
}

/// A row, with everything that was looked at.
pub(super) struct Choice<'a> {
    pub(super) row: Result<&'a Row, String>,
    pub(super) considered: Vec<Considered>,
    /// What was asked for, where no row came of it.
    pub(super) asked: String,
}

/// Plans the run.
pub(super) fn plan<'a>(
    config: &BenchConfig,
    ground: &Ground<'a>,
    key: &DeviceKey,
) -> Result<Vec<Planned<'a>>, RunError> {
    let selectors = &config.selectors;
    let suites = suites(selectors, ground)?;
    let declared: Vec<_> = suites.iter().flat_map(|s| s.arguments()).copied().collect();
    opweave_numerics::suite::SuiteArguments::check_known(&declared, &selectors.suite_arguments)?;
    let glob = selectors.label.as_ref().map(|label| Glob::new(label.clone()));
    let (mut planned, mut labels) = (Vec::new(), Vec::new());
    let ours = wanted(selectors.implementation.as_deref());
    let baseline = wanted(config.baseline.as_deref());
    for suite in &suites {
        for named in [&ours, &baseline].into_iter().flatten() {
            known(named, ground, suite.operation(), suites.len() > 1)?;
        }
        for case in suite.bench_cases(&selectors.suite_arguments)? {
            let info = case.info();
            labels.push(info.label.clone());
            if info.tier > selectors.tier || glob.as_ref().is_some_and(|g| !g.matches(&info.label)) {
                continue;
            }
            let choose = |named: Option<&Override>| choose(&*case, selectors.mode, ground, key, named);
            let (ours, baseline) = (choose(ours.as_ref()), baseline.as_ref().map(|b| choose(Some(b))));
            planned.push(Planned { case, info, ours, baseline });
        }
    }
    if planned.is_empty() {
        let label = selectors.label.clone().unwrap_or_else(|| "*".to_owned());
        let near = nearest(&label, labels.iter().map(String::as_str));
        return Err(RunError::Label {
            operations: suites.iter().map(|s| s.operation()).collect::<Vec<_>>().join(", "),
            tier: selectors.tier.name().to_owned(),
            hint: near.map_or_else(String::new, |n| format!("; did you mean `{n}`?")),
            label,
        });
    }
    Ok(planned)
}

fn suites<'a>(config: &Config, ground: &Ground<'a>) -> Result<Vec<&'a dyn DynSuite>, RunError> {
    if let Some(name) = config.operations.iter().find(|name| ground.suites.get(name).is_none()) {
        let hint = nearest(name, ground.suites.operations());
        return Err(RunError::Operation {
            name: name.clone(),
            known: ground.suites.operations().collect::<Vec<_>>().join(", "),
            hint: hint.map_or_else(String::new, |n| format!("; did you mean `{n}`?")),
        });
    }
    let asked =
        |s: &&dyn DynSuite| config.operations.is_empty() || config.operations.iter().any(|n| n == s.operation());
    Ok(ground.suites.iter().filter(asked).collect())
}

fn wanted(value: Option<&str>) -> Option<Override> {
    let value = value.map(str::trim).filter(|v| !v.is_empty())?;
    Some(Override { value: value.to_owned(), source: OverrideSource::Argument })
}

/// Checks that the name means something: to this operation, or, with several operations, to any.
fn known(named: &Override, ground: &Ground<'_>, operation: &str, several: bool) -> Result<(), RunError> {
    let checked = named.check(ground.registry, operation);
    let elsewhere = || ground.registry.operations().any(|o| named.check(ground.registry, o.operation).is_ok());
    if checked.is_err() && several && elsewhere() { Ok(()) } else { Ok(checked?) }
}

/// What selection takes for the case, under an override if there is one.
fn choose<'a>(
    case: &dyn DynCase,
    mode: Mode,
    ground: &Ground<'a>,
    key: &DeviceKey,
    named: Option<&Override>,
) -> Choice<'a> {
    let problem = case.problem();
    let query = Query {
        operation: problem.operation(),
        problem: Some(&problem),
        bucket: Bucket::ALL,
        key,
        mode: execution_mode(mode),
        demands: Demands::default(),
        overriding: named,
        profile: None,
    };
    let asked = named.map_or_else(|| "any".to_owned(), |n| n.value.clone());
    match select(ground.registry, &query) {
        Ok(selection) => Choice { row: Ok(selection.row), considered: selection.considered, asked },
        Err(error) => {
            let reasons: Vec<String> = error
                .considered
                .iter()
                .filter_map(|c| match &c.verdict {
                    // With a name given, only the rows that it means are of interest.
                    Verdict::Rejected(opweave_registry::Reject::Override { .. }) => None,
                    Verdict::Rejected(reason) => Some(format!("{}: {reason}", c.name)),
                    _ => None,
                })
                .collect();
            Choice { row: Err(format!("nothing applies: {}", reasons.join("; "))), considered: error.considered, asked }
        }
    }
}

pub(super) fn execution_mode(mode: Mode) -> ExecutionMode {
    match mode {
        Mode::Eager => ExecutionMode::Eager,
        Mode::Graph => ExecutionMode::Graph,
    }
}
