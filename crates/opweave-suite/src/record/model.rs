// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The types of a run and its rows.

use std::collections::BTreeMap;
use std::fmt;

use opweave_bench::protocol::Protocol;
use opweave_bench::report::{CacheSizes, Work};
use opweave_bench::samples::Samples;
use opweave_bench::stats::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Provenance;
use crate::identity::Identity;
use crate::telemetry::Telemetry;

/// Version of the formats of runs and baselines. A reader refuses every other.
pub const SCHEMA_VERSION: u32 = 1;

/// What the file of a run says it is; a baseline says something else.
pub const RUN_KIND: &str = "suite_run";

/// A run of the suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// [`RUN_KIND`].
    pub kind: String,
    /// The run's name, and that of its folder of logs.
    pub id: String,
    /// How far it is.
    pub state: RunState,
    /// The command line.
    pub command: Vec<String>,
    /// Start, seconds since 1970.
    pub started_unix_s: u64,
    /// Duration until the last write.
    pub elapsed_s: f64,
    /// The device.
    pub device: Identity,
    /// Threads of a CPU.
    pub threads: Option<usize>,
    /// Driver of the device.
    pub driver: Option<String>,
    /// Caches of the device, as its first row found them.
    pub caches: Option<CacheSizes>,
    /// Whether the device was leased.
    pub leased: bool,
    /// Work of others that was admitted instead of the usual limit, in processors or shares of a GPU.
    pub admitted_work: Option<f64>,
    /// Rounds, rest and whatever the workloads do not say.
    pub protocol: Protocol,
    /// Why this is not the whole default sweep, if so.
    pub partial: Option<String>,
    /// `2/8` of a sharded sweep.
    pub shard: Option<String>,
    /// Rows of the sweep of which this is a shard.
    pub whole: usize,
    /// Source revision.
    pub revision: Option<String>,
    /// Whether the checkout had changes.
    pub dirty: Option<bool>,
    /// `release` or `debug`.
    pub build: String,
    /// What is to be measured, in order.
    pub planned: Vec<Planned>,
    /// Rows that have an outcome, in the order in which they got it.
    pub rows: Vec<Row>,
}

impl Run {
    /// Drops the rows that have to be measured again: all but those that were measured or do not apply.
    pub fn resume(&mut self) {
        self.rows.retain(|row| row.status.is_acceptable());
        self.state = RunState::Running;
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It goes on, or was killed; its rows are whole.
    Running,
    /// Every planned row has an outcome.
    Complete,
    /// A failure or the user ended it.
    Stopped,
}

/// A row to come.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// The operator.
    pub kernel: String,
    /// The case.
    pub label: String,
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kernel, self.label)
    }
}

/// Outcome of a row; closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Validated, timed, undisturbed.
    Ok,
    /// Validation or timing failed, or the row's process did.
    Fail,
    /// This machine lacks what the row needs.
    Skip,
    /// Others were on the device at every attempt. The numbers are kept and decide nothing.
    Interfered,
    /// Ours was timed; a reference that had to be measured was not.
    BaselineError,
    /// The deadline passed.
    TimedOut,
    /// The run ended first.
    Cancelled,
}

impl Status {
    /// Every value.
    pub const ALL: [Status; 7] = [
        Status::Ok,
        Status::Fail,
        Status::Skip,
        Status::Interfered,
        Status::BaselineError,
        Status::TimedOut,
        Status::Cancelled,
    ];

    /// The word in files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Fail => "fail",
            Status::Skip => "skip",
            Status::Interfered => "interfered",
            Status::BaselineError => "baseline_error",
            Status::TimedOut => "timed_out",
            Status::Cancelled => "cancelled",
        }
    }

    /// Whether a sweep with such a row is a success.
    #[must_use]
    pub const fn is_acceptable(self) -> bool {
        matches!(self, Status::Ok | Status::Skip)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One case, measured or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The operator.
    pub kernel: String,
    /// The case.
    pub label: String,
    /// The implementation that ran as ours.
    pub implementation: Option<String>,
    /// Fastest reference over ours; above 1 ours is faster. Absent where no reference was measured.
    pub ratio: Option<f64>,
    /// The same of each round, whose times were taken next to each other.
    pub ratio_rounds: Vec<f64>,
    /// The outcome.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// Times: ours first, then the references.
    pub impls: Vec<Impl>,
    /// What a reader must know: capped clocks, a missing optional reference, no lease.
    pub marks: Vec<String>,
    /// Why these numbers decide nothing, if so.
    pub no_verdict: Option<String>,
    /// Timer, scope, metric and cache state in words: two rows are compared only if these are equal.
    pub series: Option<String>,
    /// Named values of the problem and the call.
    pub problem: BTreeMap<String, String>,
    /// Distribution of the inputs.
    pub grade: Option<String>,
    /// Bytes and operations of a call.
    pub work: Option<Work>,
    /// Every number that decides how the times came about.
    pub protocol: Option<Protocol>,
    /// Order of the turns.
    pub order: Option<String>,
    /// What the device reached in multiply-adds beside the row, 10^9 operations per second.
    pub multiply_add_gflop_per_s: Option<f64>,
    /// What made the caches cold.
    pub cache_method: Option<String>,
    /// The device.
    pub device: Identity,
    /// Attempts, the last one being the one whose numbers stand here.
    pub attempts: Vec<Attempt>,
    /// What the reference is: libraries and versions.
    pub provenance: Vec<Provenance>,
    /// Source revision.
    pub revision: Option<String>,
    /// Whether the checkout had changes.
    pub dirty: Option<bool>,
    /// `release` or `debug`.
    pub build: String,
    /// Digests of the kernel images that ran.
    pub images: Vec<String>,
    /// Start of the last attempt, seconds since 1970.
    pub started_unix_s: u64,
    /// Duration of the last attempt: process, inputs, validation, times.
    pub elapsed_s: f64,
    /// How much of it was taking samples: ours and those of references, warming up and making caches cold included.
    pub sampling_s: Option<f64>,
}

impl Row {
    /// A row without an outcome yet.
    #[must_use]
    pub fn blank(planned: &Planned, device: &Identity, status: Status, reason: Option<String>) -> Row {
        Row {
            kernel: planned.kernel.clone(),
            label: planned.label.clone(),
            implementation: None,
            ratio: None,
            ratio_rounds: Vec::new(),
            status,
            reason,
            impls: Vec::new(),
            marks: Vec::new(),
            no_verdict: None,
            series: None,
            problem: BTreeMap::new(),
            grade: None,
            work: None,
            protocol: None,
            order: None,
            multiply_add_gflop_per_s: None,
            cache_method: None,
            device: device.clone(),
            attempts: Vec::new(),
            provenance: Vec::new(),
            revision: None,
            dirty: None,
            build: String::new(),
            images: Vec::new(),
            started_unix_s: 0,
            elapsed_s: 0.0,
            sampling_s: None,
        }
    }

    /// What it is a row of.
    #[must_use]
    pub fn planned(&self) -> Planned {
        Planned { kernel: self.kernel.clone(), label: self.label.clone() }
    }

    /// Ours, if it was timed.
    #[must_use]
    pub fn ours(&self) -> Option<&Impl> {
        self.impls.iter().find(|one| one.ours)
    }

    /// The fastest reference, if one was timed.
    #[must_use]
    pub fn fastest_reference(&self) -> Option<&Impl> {
        self.impls.iter().filter(|one| !one.ours).min_by(|a, b| a.us.total_cmp(&b.us))
    }
}

/// One implementation's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impl {
    /// Its name.
    pub name: String,
    /// Whether it is ours, and not what ours is measured against.
    pub ours: bool,
    /// Mean of the rounds' medians, microseconds.
    pub us: f64,
    /// Median of each round.
    pub round_us: Vec<f64>,
    /// Range in which the value lies; absent where one sample leaves it open.
    pub interval_us: Option<Interval>,
    /// Samples in all.
    pub n: usize,
    /// 10^9 bytes per second.
    pub gb_per_s: Option<f64>,
    /// 10^9 operations per second.
    pub gflop_per_s: Option<f64>,
    /// Rate of the device's own copy at the same bytes.
    pub ceiling_gb_per_s: Option<f64>,
    /// A cold rate above what memory delivers: it says nothing of memory.
    pub cache_resident: bool,
    /// Every sample. Runs keep them, baselines do not.
    pub raw: Option<Samples>,
}

/// One attempt at a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    /// How it ended.
    pub status: Status,
    /// Why.
    pub reason: Option<String>,
    /// Seconds from the start of the process to its end.
    pub elapsed_s: f64,
    /// What was seen on the device meanwhile.
    pub telemetry: Telemetry,
    /// The log, beside the run's file.
    pub log: String,
}
