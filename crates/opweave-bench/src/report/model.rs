// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The types of the report. Microseconds end in `_us`, `gb_per_s` is 10^9 bytes per second.

use std::collections::BTreeMap;

use opweave_numerics::Verdict as Validation;
use opweave_numerics::report::{Distributed, Environment, Implementation};
use opweave_numerics::{Mode, input::Grade};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ceilings::Ceilings;
use crate::measurement::Measurement;
use crate::protocol::{Counts, Protocol};

/// One run of `opweave bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BenchReport {
    /// [`super::SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// How the run ended.
    pub status: RunStatus,
    /// The command line that reproduces it.
    pub command: Vec<String>,
    /// Start, seconds since 1970 UTC.
    pub started_unix_s: u64,
    /// Duration so far, seconds.
    pub elapsed_s: f64,
    /// What built and hosted the run, and the device it ran on.
    pub environment: Environment,
    /// Caches of the device, and where their sizes come from.
    pub caches: CacheSizes,
    /// Every number that decides how the times came about.
    pub protocol: Protocol,
    /// The ranks, where several ran it together. A time of all is then the longest of theirs, sample by sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distributed: Option<Distributed>,
    /// Seed of the inputs.
    pub seed: u64,
    /// Algorithm of the input generator.
    pub generator: String,
    /// What the device reached with plain copies, reads and multiply-adds in the same run.
    pub ceilings: Option<Ceilings>,
    /// One row per case, mode and implementation, in the order of measuring.
    pub rows: Vec<Row>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run goes on, or was killed: rows so far are whole.
    Running,
    /// Every case had its turn.
    Complete,
    /// Stopped by the user.
    Interrupted,
}

/// Cache sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheSizes {
    /// Data cache of one core.
    pub l1_bytes: u64,
    /// Second level of one core.
    pub l2_bytes: u64,
    /// Last level.
    pub last_level_bytes: u64,
    /// Where the sizes come from, or that they are assumed.
    pub source: String,
}

/// One implementation on one case in one mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// `operation/label/seedN`.
    pub case_id: String,
    /// The operator.
    pub operation: String,
    /// The case's label.
    pub label: String,
    /// Named values of the problem and of this call, as selection and contract see them.
    pub problem: BTreeMap<String, String>,
    /// Distribution of the inputs: values change times, so it belongs to the problem.
    pub grade: Grade,
    /// How the call reached the device.
    pub mode: Mode,
    /// Which implementation ran.
    pub implementation: Implementation,
    /// Whether the row is ours or what ours is measured against.
    pub reference: bool,
    /// Outcome of validation. Only what passed is timed.
    pub validation: Validation,
    /// Outcome of the row.
    pub status: RowStatus,
    /// Why the status is not `ok`.
    pub reason: Option<String>,
    /// What one call moves and computes, from the contract.
    pub work: Option<Work>,
    /// Time to prepare the plan, outside all samples.
    pub preparation_us: Option<f64>,
    /// Order of the turns of a round in which it was timed: `A B B A, 8 times`, this row's letter first where it is ours.
    pub order: Option<String>,
    /// The measured series; empty unless the status is `ok`.
    pub series: Vec<Series>,
    /// Ratios against a baseline that took its turns in the same run.
    pub against: Vec<Against>,
    /// What a reader must know about these numbers.
    pub notes: Vec<String>,
}

/// Outcome of a row; closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// Validated and timed.
    Ok,
    /// Validation or timing failed; not timed.
    Fail,
    /// This implementation or machine does not do this case.
    Skip,
    /// Ours was timed, its baseline failed.
    BaselineError,
    /// A time limit passed before there was a sample.
    TimedOut,
    /// The run ended first.
    Cancelled,
}

/// Bytes and operations of one call, from the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Bytes that must be read.
    pub bytes_read: u64,
    /// Bytes that must be written.
    pub bytes_written: u64,
    /// Floating-point operations.
    pub flops: u64,
}

impl Work {
    /// Bytes moved in all.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }
}

/// A measurement with what was counted and what it means against the ceilings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The samples and their statistics.
    pub measurement: Measurement,
    /// Planned counts.
    pub counts: Counts,
    /// Time from the first warm-up of its turns to their last samples, what was done before each sample included.
    #[serde(default)]
    pub sampling_s: f64,
    /// Calls inside one sample, by whose number it was divided.
    pub calls_per_sample: usize,
    /// What made the caches cold, or that they were left alone.
    pub cache_method: String,
    /// Bytes per second at the row's value, 10^9.
    pub gb_per_s: Option<f64>,
    /// Operations per second at the row's value, 10^9.
    pub gflop_per_s: Option<f64>,
    /// Rate of the own copy or read kernel at the same bytes, in the same cache state.
    pub ceiling_gb_per_s: Option<f64>,
    /// `gb_per_s` over `ceiling_gb_per_s`.
    pub share_of_ceiling: Option<f64>,
    /// A cold rate above what memory delivers: the inputs were in a cache after all, and the rate says nothing of memory.
    pub cache_resident: bool,
}

/// Ours against a baseline in counterbalanced order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// The baseline's implementation.
    pub implementation: String,
    /// Which series: timer, scope, metric and cache state in words.
    pub series: String,
    /// Baseline over ours; above 1 ours is faster.
    pub ratio: f64,
    /// The same of each round, whose two times were taken next to each other.
    pub round_ratios: Vec<f64>,
    /// The same of neighbouring turns, which decides; none where there are fewer than eight.
    pub paired: Option<crate::compare::Paired>,
    /// The smallest relative difference that counts.
    pub threshold: f64,
    /// `faster`, `slower`, `same` or `ambiguous`, by the interval of the turns' ratios.
    pub verdict: crate::compare::Verdict,
}
