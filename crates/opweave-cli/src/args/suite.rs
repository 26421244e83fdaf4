// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments of `suite`, `promote`, `history` and `report`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use opweave_bench::measurement::Timer;
use opweave_suite::workload::Shard;

/// `opweave suite`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SuiteCommand>,
    /// Every workload, not only those of the default sweep
    #[arg(long)]
    pub(crate) all: bool,
    /// Operators, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) kernel: Option<String>,
    /// Labels, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) label: Option<String>,
    /// A flat list of workloads, each with its kernel, in the place of the files
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    pub(crate) workloads: Option<PathBuf>,
    /// Folder of the workload files, the references and the baselines
    #[arg(long, value_name = "FOLDER", default_value = "suites")]
    pub(crate) suites: PathBuf,
    /// The device
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// Threads of the CPU; 0 for as many as there are
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Turns of each implementation [default: 5]
    #[arg(long)]
    pub(crate) rounds: Option<u32>,
    /// Rest before each turn, in seconds [default: 0]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) cooldown: Option<f64>,
    /// How to take times, whatever the workloads say
    #[arg(long)]
    pub(crate) timer: Option<Timer>,
    /// Go on after a failure
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Part K of N of the sweep, for a cluster
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
    /// Hold the run to a baseline: a file, or REVISION:FILE as git has it [default file: that of the device]
    #[arg(long, value_name = "BASELINE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) against: Option<String>,
    /// Smallest fall that counts, in percent
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT", value_parser = super::compare::percent)]
    pub(crate) threshold: f64,
    /// A device without a baseline is no error
    #[arg(long, requires = "against")]
    pub(crate) allow_no_baseline: bool,
    /// Why the baseline itself was changed in this checkout; without a reason such a baseline is refused
    #[arg(long, value_name = "TEXT", requires = "against")]
    pub(crate) baseline_reason: Option<String>,
    /// Go on with an interrupted run: its file or id [default: the latest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Check the workload files and end; needs no device
    #[arg(long)]
    pub(crate) check: bool,
    /// Measure without a lease of the device; such a run cannot be promoted
    #[arg(long)]
    pub(crate) no_lease: bool,
    /// Longest wait for the lease, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) lease_limit: u64,
    /// Longest wait for a device that others use, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) free_limit: u64,
    /// Work of others that disturbs nothing, in processors or shares of a GPU, instead of the usual limit; such a run cannot be
    /// promoted
    #[arg(long, value_name = "WORK", value_parser = work)]
    pub(crate) admit: Option<f64>,
    /// Folder of the runs
    #[arg(long, value_name = "FOLDER", default_value = ".opweave/runs")]
    pub(crate) runs: PathBuf,
    /// Write the run to standard output, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Commands below `suite`.
#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Join the shards of one sweep into a run
    Merge {
        /// Their files or ids
        #[arg(required = true)]
        shards: Vec<PathBuf>,
        /// Folder of the runs
        #[arg(long, value_name = "FOLDER", default_value = ".opweave/runs")]
        runs: PathBuf,
    },
}

/// `opweave promote`
#[derive(Debug, Args)]
pub(crate) struct PromoteArgs {
    /// The run: its file or id
    pub(crate) run: PathBuf,
    /// Replace only the rows that the run measured
    #[arg(long)]
    pub(crate) merge: bool,
    /// The baseline [default: that of the run's device, below the suites]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Folder of the workload files, the references and the baselines
    #[arg(long, value_name = "FOLDER", default_value = "suites")]
    pub(crate) suites: PathBuf,
    /// Folder of the runs
    #[arg(long, value_name = "FOLDER", default_value = ".opweave/runs")]
    pub(crate) runs: PathBuf,
}

/// `opweave history`
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Rows as KERNEL or KERNEL/LABEL, with * and ?
    pub(crate) rows: Option<String>,
    /// Devices by product name, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) device: Option<String>,
    /// Folder of the workload files, the references and the baselines
    #[arg(long, value_name = "FOLDER", default_value = "suites")]
    pub(crate) suites: PathBuf,
    /// Folder of the runs
    #[arg(long, value_name = "FOLDER", default_value = ".opweave/runs")]
    pub(crate) runs: PathBuf,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `opweave report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run: its file or id
    pub(crate) run: PathBuf,
    /// A baseline or another run to hold it to
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Smallest fall that counts, in percent
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT", value_parser = super::compare::percent)]
    pub(crate) threshold: f64,
    /// Show numbers of runs that cannot be compared, without verdicts
    #[arg(long, requires = "against")]
    pub(crate) table_only: bool,
    /// The page; Markdown is written beside it [default: beside the run]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Folder of the workload files, the references and the baselines
    #[arg(long, value_name = "FOLDER", default_value = "suites")]
    pub(crate) suites: PathBuf,
    /// Folder of the runs
    #[arg(long, value_name = "FOLDER", default_value = ".opweave/runs")]
    pub(crate) runs: PathBuf,
}

fn work(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err("a number of 0 or more is needed".to_owned()) }
}
