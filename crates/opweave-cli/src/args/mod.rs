// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments.

mod compare;
mod explain;
mod license;
mod measure;
mod select;
mod suite;
pub(crate) mod suites;

pub(crate) use compare::CompareArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use license::{Format, LicenseArgs, LicenseCommand};
pub(crate) use measure::{BenchArgs, NumericsArgs};
pub(crate) use select::SelectArgs;
pub(crate) use suite::{HistoryArgs, PromoteArgs, ReportArgs, SuiteArgs, SuiteCommand};

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::output::Color;

/// Operators for LLM inference: what exists, which one runs, whether it is right and how fast it is.
///
/// Exit codes: 0 done and good, 1 something measured is bad, 2 usage, 3 a comparison regressed, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "opweave", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Say what is done on standard error; twice for reasons, three times for everything
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to colour the output; NO_COLOR is respected
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", global = true)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Every implementation with what it needs, and why it is unavailable if it is; needs no hardware
    Catalog(CatalogArgs),
    /// What would run a problem, and why, also on a device that is not here
    Explain(ExplainArgs),
    /// What this machine offers, and why the rest is absent
    Devices(DevicesArgs),
    /// Validate implementations against the reference
    Numerics(NumericsArgs),
    /// Validate and time implementations
    Bench(BenchArgs),
    /// Measure the workloads of suites/, each in a process of its own, on a device that is leased
    Suite(SuiteArgs),
    /// Judge one benchmark report, or run of the suite, against another
    Compare(CompareArgs),
    /// Make a run of the suite the baseline of its device
    Promote(PromoteArgs),
    /// Show how rows of the suite moved over baselines and runs
    History(HistoryArgs),
    /// Write a run of the suite as one page of HTML, and as Markdown
    Report(ReportArgs),
    /// Check licence headers, ports and their sources, on any repository
    License(LicenseArgs),
}

/// Arguments of `catalog`.
#[derive(Debug, Args)]
pub(crate) struct CatalogArgs {
    /// Only these operations
    pub(crate) operations: Vec<String>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `devices`.
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
