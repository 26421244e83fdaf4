// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What `numerics` and `bench` share: which cases, where, on what inputs.

use std::path::PathBuf;

use clap::Args;
use opweave_numerics::input::{DEFAULT_SEED, Grade};
use opweave_numerics::{Mode, Tier};

/// Cases, device, implementation, inputs, output.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Operations; all that have a suite if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) operation: Vec<String>,
    /// The device
    #[arg(long, default_value = "cpu")]
    pub(crate) device: String,
    /// How calls reach the device: eager, graph
    #[arg(long, default_value_t = Mode::Eager)]
    pub(crate) mode: Mode,
    /// An implementation by full name, or a solution such as native or cpu.native
    #[arg(long, value_name = "NAME|SOLUTION")]
    pub(crate) implementation: Option<String>,
    /// Cases by label, with * and ?
    #[arg(long, value_name = "GLOB")]
    pub(crate) label: Option<String>,
    /// The largest tier of cases: smoke, default, full
    #[arg(long, default_value_t = Tier::Default)]
    pub(crate) tier: Tier,
    /// Seed of the inputs
    #[arg(long, default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Distribution of the inputs: normal, uniform, exact, wide, special, real
    #[arg(long, default_value_t = Grade::Normal)]
    pub(crate) grade: Grade,
    /// A safetensors file, for grade real
    #[arg(long, value_name = "FILE")]
    pub(crate) tensors: Option<PathBuf>,
    /// Threads of the CPU; 0 for as many as there are
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// What the report says of the source revision, instead of asking git
    #[arg(long, value_name = "TEXT")]
    pub(crate) revision: Option<String>,
    /// What the report says of the compiler on the path, instead of asking it
    #[arg(long, hide = true, value_name = "TEXT")]
    pub(crate) rustc: Option<String>,
    /// Where the report goes; Markdown is written beside it [default: a new file under .opweave]
    #[arg(long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Run on all ranks that torchrun, mpirun or srun started, or RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT
    /// name; each writes its own report beside --output, rank 0 that of all
    #[arg(long)]
    pub(crate) distributed: bool,
    /// How long a rank waits for the others, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub(crate) rank_limit: u64,
    /// List the cases and end
    #[arg(long, conflicts_with = "distributed")]
    pub(crate) list: bool,
    /// Write the report to standard output, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
