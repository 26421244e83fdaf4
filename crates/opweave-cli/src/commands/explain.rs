// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave explain`: what would run, and why.

use std::collections::{BTreeMap, BTreeSet};

use opweave_contract::{DynProblem, OperationDecl};
use opweave_device::DeviceKey;
use opweave_registry::{Buckets, ExecutionMode, FrozenRegistry, Verdict};
use opweave_runtime::{Demands, Explanation, LoadedProfile, Overrides, Profile, Runtime, digest, explain};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::ExplainArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, SCHEMA_VERSION, Tone};
use crate::{names, solutions};

/// Explains every device and bucket; exit 1 if nothing applies to one of them.
pub(crate) fn run(args: &ExplainArgs, out: &mut Output) -> Result<Exit, Failure> {
    let runtime = solutions::runtime();
    let registry = solutions::registry(&runtime)?;
    let operation = find(&registry, &args.operation)?;
    let problem = problem(operation, &args.problem)?;
    let buckets = match &args.buckets {
        Some(text) => Buckets::parse(operation.operator.signature(), text).map_err(Failure::usage)?,
        None => Buckets::none(),
    };
    let mode: ExecutionMode = args.mode.parse().map_err(Failure::usage)?;
    let keys: Vec<DeviceKey> =
        args.device.iter().map(|d| d.parse().map_err(Failure::usage)).collect::<Result<_, _>>()?;
    let overrides = overrides(&runtime, &registry, args)?;
    let mut notes = overrides.notes().to_vec();
    let profile = profile(&runtime, &registry, args, &mut notes)?;
    let demands = Demands { deterministic: args.deterministic, batch_invariant: args.batch_invariant };
    let name = operation.operation;
    let all: Vec<Explanation> = keys
        .iter()
        .flat_map(|key| {
            let overriding = overrides.get(name);
            explain(&registry, name, problem.as_ref(), &buckets, key, mode, demands, overriding, profile.as_ref())
        })
        .collect();
    if args.json {
        out.json(&json(&all, notes))?;
    } else {
        for explanation in &all {
            out.line(explanation.to_string().trim_end())?;
        }
        for note in notes {
            let note = out.tone(Tone::Warn, &format!("note: {note}"));
            out.line(note)?;
        }
    }
    Ok(if all.iter().all(|e| e.outcome.is_ok()) { Exit::Good } else { Exit::Bad })
}

/// An operation by name.
pub(crate) fn find<'a>(registry: &'a FrozenRegistry, name: &str) -> Result<&'a OperationDecl, Failure> {
    registry.operation(name).ok_or_else(|| {
        let known: Vec<&str> = registry.operations().map(|o| o.operation).collect();
        names::unknown("operation", name, &known)
    })
}

fn problem(operation: &OperationDecl, pairs: &[String]) -> Result<Option<DynProblem>, Failure> {
    if pairs.is_empty() {
        return Ok(None);
    }
    // A shell user may write one argument with several pairs.
    let pairs: Vec<String> = pairs.iter().flat_map(|p| p.split_whitespace()).map(str::to_owned).collect();
    operation.operator.problem(&pairs).map(Some).map_err(Failure::usage)
}

/// The override of the operation: environment before argument, as initialize reads them.
fn overrides(runtime: &Runtime, registry: &FrozenRegistry, args: &ExplainArgs) -> Result<Overrides, Failure> {
    let argument: BTreeMap<String, String> =
        args.implementation.iter().map(|value| (args.operation.clone(), value.clone())).collect();
    let asked = BTreeSet::from([args.operation.clone()]);
    let overrides =
        Overrides::resolve(&argument, &runtime.environment(), &asked, &runtime.operations()).map_err(Failure::usage)?;
    for (operation, value) in overrides.iter() {
        value.check(registry, operation).map_err(Failure::usage)?;
    }
    Ok(overrides)
}

/// The profile, unless it is stale: then a note says why, and rank decides as it would at initialize.
fn profile(
    runtime: &Runtime,
    registry: &FrozenRegistry,
    args: &ExplainArgs,
    notes: &mut Vec<String>,
) -> Result<Option<LoadedProfile>, Failure> {
    let Some(path) = &args.profile else { return Ok(None) };
    let profile = Profile::load(path).map_err(Failure::usage)?;
    Ok(profile.accept(&digest(registry, &runtime.platform())).map_err(|stale| notes.push(stale.to_string())).ok())
}

/// What `explain --json` writes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainJson {
    /// Version of this format.
    schema_version: u32,
    /// One entry for each device and bucket.
    explanations: Vec<ExplanationJson>,
    /// Remarks: blank overrides, a stale profile.
    notes: Vec<String>,
}

/// One device and bucket.
#[derive(Serialize, JsonSchema)]
struct ExplanationJson {
    operation: String,
    /// The facts, `k=v` separated by spaces.
    problem: Option<String>,
    bucket: String,
    device: String,
    mode: String,
    /// What runs; `null` if nothing applies.
    implementation: Option<String>,
    /// Why it wins.
    because: Option<String>,
    /// Every row of the operation, in byte order of the names.
    considered: Vec<ConsideredJson>,
}

/// One row.
#[derive(Serialize, JsonSchema)]
struct ConsideredJson {
    name: String,
    /// `chosen`, `eligible` or `rejected`.
    verdict: String,
    rank: Option<i32>,
    /// Kind of the refusal.
    reason_kind: Option<String>,
    /// The refusal in words.
    reason: Option<String>,
}

fn json(all: &[Explanation], notes: Vec<String>) -> ExplainJson {
    let considered = |name: &str, verdict: &Verdict| {
        let (word, rank, reason) = match verdict {
            Verdict::Chosen { rank } => ("chosen", Some(*rank), None),
            Verdict::Eligible { rank } => ("eligible", Some(*rank), None),
            Verdict::Rejected(reason) => ("rejected", None, Some(reason)),
        };
        ConsideredJson {
            name: name.to_owned(),
            verdict: word.to_owned(),
            rank,
            reason_kind: reason.map(|r| r.kind().to_owned()),
            reason: reason.map(ToString::to_string),
        }
    };
    let explanations = all
        .iter()
        .map(|e| ExplanationJson {
            operation: e.operation.clone(),
            problem: e.problem.clone(),
            bucket: e.bucket.to_string(),
            device: e.device.clone(),
            mode: e.mode.to_string(),
            implementation: e.outcome.as_ref().ok().map(|(row, _)| row.clone()),
            because: e.outcome.as_ref().ok().map(|(_, winner)| winner.to_string()),
            considered: e.considered.iter().map(|c| considered(&c.name, &c.verdict)).collect(),
        })
        .collect();
    ExplainJson { schema_version: SCHEMA_VERSION, explanations, notes }
}
