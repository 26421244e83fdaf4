// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments of `numerics` and `bench` beyond the shared ones.

use std::path::PathBuf;

use clap::Args;
use opweave_bench::measurement::{Cache, Timer};
use opweave_bench::protocol::ProtocolOptions;

use super::SelectArgs;

/// `opweave numerics`
#[derive(Debug, Args)]
pub(crate) struct NumericsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Runs of each case that must agree bit for bit, where the implementation says that they do
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// Also run rows alone, and demand the same bits, where the implementation says so
    #[arg(long)]
    pub(crate) batch_invariance: bool,
}

/// `opweave bench`
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// An implementation that takes turns with ours in one run
    #[arg(long, value_name = "NAME|SOLUTION")]
    pub(crate) baseline: Option<String>,
    /// A program that measures another library in turns with ours (may be given several times); see suites/references
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) reference: Vec<PathBuf>,
    /// Only this cache state, instead of both in turn: cold, hot
    #[arg(long)]
    pub(crate) cache: Option<Cache>,
    /// How to take times: kernel, event, graph, graph_kernel, wall, distributed [default: wall, or graph]
    #[arg(long)]
    pub(crate) timer: Option<Timer>,
    /// Turns of each implementation [default: 5]
    #[arg(long)]
    pub(crate) rounds: Option<u32>,
    /// Rest before each turn, in seconds [default: 0]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) cooldown: Option<f64>,
    /// Budget of the warm-up before each turn, in milliseconds [default: 25]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(crate) warmup_ms: Option<f64>,
    /// Budget of the samples of each round, in milliseconds [default: 100]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(crate) repeat_ms: Option<f64>,
    /// Exactly so many samples in each round, instead of the budgets
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<u64>,
    /// The rate of multiply-adds, which another row of the same suite measured, in 10^9 operations per second
    #[arg(long, hide = true, value_name = "GFLOP_PER_S")]
    pub(crate) multiply_add: Option<f64>,
    /// End when standard input ends: the suite holds its other end
    #[arg(long, hide = true)]
    pub(crate) leash: bool,
}

impl BenchArgs {
    /// The numbers of the protocol that were given.
    pub(crate) fn protocol(&self) -> ProtocolOptions {
        ProtocolOptions {
            warmup_ms: self.warmup_ms,
            repeat_ms: self.repeat_ms,
            iterations: self.iterations,
            rounds: self.rounds,
            cooldown_s: self.cooldown,
        }
    }
}
