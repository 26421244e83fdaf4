// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The report's types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distributed, Environment, RankVerdict};
use crate::compare::LeafResult;
use crate::config::{Config, Mode, Tier};
use crate::input::{ALGORITHM, Grade};
use crate::number::Number;
use crate::verdict::{Counts, Verdict};

/// The version of the report's format.
pub const SCHEMA_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did not end: it is still going, or it was killed.
    Incomplete,
    /// At least one case passed and nothing went wrong.
    Passed,
    /// Something failed, or nothing passed.
    Failed,
    /// It was told to stop.
    Interrupted,
}

impl Status {
    /// The exit code that a process should end with.
    pub const fn exit_code(self) -> u8 {
        match self {
            Status::Passed => 0,
            Status::Failed | Status::Incomplete => 1,
            Status::Interrupted => 130,
        }
    }

    /// The status as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Incomplete => "incomplete",
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
        }
    }
}

/// The record of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Version of this format.
    pub schema_version: u32,
    /// How the run ended.
    pub status: Status,
    /// The command line that does the same.
    pub command: String,
    /// What was asked for.
    pub settings: Settings,
    /// Where it ran.
    pub environment: Environment,
    /// Cases by verdict, over all operations.
    pub counts: Counts,
    /// Wall time of the run in milliseconds.
    pub elapsed_ms: f64,
    /// The ranks, where several ran it together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distributed: Option<Distributed>,
    /// Notes that are no verdicts, such as an override that was ignored.
    pub notes: Vec<String>,
    /// One entry for each operation, in name order.
    pub operations: Vec<OperationReport>,
}

/// What decides a run's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The device asked for.
    pub device: String,
    /// Execution mode.
    pub mode: Mode,
    /// The implementation or solution asked for.
    pub implementation: Option<String>,
    /// Glob over labels.
    pub label: Option<String>,
    /// Largest tier.
    pub tier: Tier,
    /// Seed of the inputs.
    pub seed: u64,
    /// Grade of the inputs, where a case asks for none of its own.
    pub grade: Grade,
    /// The algorithm that draws them.
    pub input_algorithm: String,
    /// The file of grade `real`.
    pub tensors: Option<String>,
    /// Runs that had to agree.
    pub repeat: u32,
    /// Whether rows were also run alone.
    pub batch_invariance: bool,
    /// Arguments of the suites.
    pub suite_arguments: BTreeMap<String, String>,
}

impl From<&Config> for Settings {
    fn from(config: &Config) -> Settings {
        Settings {
            device: config.device.clone(),
            mode: config.mode,
            implementation: config.implementation.clone(),
            label: config.label.clone(),
            tier: config.tier,
            seed: config.seed,
            grade: config.grade,
            input_algorithm: ALGORITHM.to_owned(),
            tensors: config.tensors.as_ref().map(|p| p.display().to_string()),
            repeat: config.repeat,
            batch_invariance: config.batch_invariance,
            suite_arguments: config.suite_arguments.iter().cloned().collect(),
        }
    }
}

/// One operation's part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationReport {
    /// The operation.
    pub operation: String,
    /// Cases by verdict.
    pub counts: Counts,
    /// What selection said to each problem that the cases have.
    pub selection: Vec<Selection>,
    /// The cases, in the suite's order; a case appears once for each implementation.
    pub cases: Vec<CaseReport>,
}

/// Selection for one problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The problem as `k=v` text.
    pub problem: String,
    /// The row that selection takes by itself; none when no row is eligible.
    pub selected: Option<String>,
    /// Every row of the operation, in name order.
    pub considered: Vec<Considered>,
}

/// One row as selection saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Considered {
    /// The row's name.
    pub name: String,
    /// What became of it.
    #[serde(flatten)]
    pub verdict: ConsideredVerdict,
}

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ConsideredVerdict {
    /// It passed every test; the highest rank wins.
    Eligible {
        /// Its rank.
        rank: i32,
    },
    /// The first test that it failed.
    Rejected {
        /// Why.
        reason: String,
    },
}

/// The implementation that a case ran on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    /// The row's full name.
    pub name: String,
    /// The solution that registered it.
    pub solution: String,
    /// Its variant, if it has one.
    pub variant: Option<String>,
    /// How it is bound to code: a symbol, a library call.
    pub binding: String,
    /// Whether it claims that runs agree bit for bit.
    pub deterministic: bool,
    /// Whether it claims that a row does not depend on its batch.
    pub batch_invariant: bool,
    /// What it says about launches: grid, block, shared memory, workspace, derived values.
    pub launch: BTreeMap<String, String>,
}

/// What kind of thing a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Names, shapes, dtypes, devices or strides of outputs.
    Structure,
    /// Values of an output.
    Values,
    /// An input that the contract does not let the operator write.
    Mutation,
    /// Byte ranges that may not be shared.
    Aliasing,
    /// Bytes outside every element.
    Guard,
    /// A fault that was raised or not raised against expectation.
    Fault,
    /// Runs that differ.
    Repeat,
    /// A row that depends on its batch.
    BatchInvariance,
    /// A replay that differs from what its inputs ask for.
    Graph,
    /// Ranks whose verdicts are not the same.
    Ranks,
}

impl FindingKind {
    /// The kind as a word.
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::Structure => "structure",
            FindingKind::Values => "values",
            FindingKind::Mutation => "mutation",
            FindingKind::Aliasing => "aliasing",
            FindingKind::Guard => "guard",
            FindingKind::Fault => "fault",
            FindingKind::Repeat => "repeat",
            FindingKind::BatchInvariance => "batch_invariance",
            FindingKind::Graph => "graph",
            FindingKind::Ranks => "ranks",
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// What is wrong, with the argument's name and the numbers.
    pub text: String,
}

/// Where the values of an argument came from, for grade `real`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputOrigin {
    /// The argument.
    pub argument: String,
    /// Tensor and rows.
    pub origin: String,
}

/// One case with one implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseReport {
    /// `operation/label/seedN`.
    pub id: String,
    /// The case's label.
    pub label: String,
    /// Its tier.
    pub tier: Tier,
    /// The grade of its inputs.
    pub grade: Grade,
    /// Facts of the problem, dynamic dimensions, scalars and layout, by name.
    pub parameters: BTreeMap<String, String>,
    /// What it ran on; none where nothing could be chosen.
    pub implementation: Option<Implementation>,
    /// How it came out.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The verdict of each rank, in the report of a distributed run as a whole. What else is said of the case there is what
    /// rank 0 found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankVerdict>,
    /// What is wrong, the first cause first.
    pub findings: Vec<Finding>,
    /// One entry for each output.
    pub leaves: Vec<LeafResult>,
    /// Where real inputs came from.
    pub inputs: Vec<InputOrigin>,
    /// Time of preparing the plan, in microseconds.
    pub preparation_us: Number,
    /// Time of the whole case, in milliseconds.
    pub elapsed_ms: Number,
    /// The command line that runs this case alone.
    pub reproduce: String,
}

impl Report {
    /// A report of a run that has done nothing yet.
    pub fn new(config: &Config, environment: Environment) -> Report {
        Report {
            schema_version: SCHEMA_VERSION,
            status: Status::Incomplete,
            command: config.command(),
            settings: config.into(),
            environment,
            counts: Counts::default(),
            elapsed_ms: 0.0,
            distributed: None,
            notes: Vec::new(),
            operations: Vec::new(),
        }
    }

    /// Appends a case to the last operation and counts it.
    pub fn push_case(&mut self, case: CaseReport) {
        self.counts.add(&case.verdict);
        if let Some(operation) = self.operations.last_mut() {
            operation.counts.add(&case.verdict);
            operation.cases.push(case);
        }
    }

    /// Ends the run: `interrupted`, or what the counts say.
    pub fn conclude(&mut self, interrupted: bool) {
        self.status = match (interrupted, self.counts.is_success()) {
            (true, _) => Status::Interrupted,
            (false, true) => Status::Passed,
            (false, false) => Status::Failed,
        };
    }
}
