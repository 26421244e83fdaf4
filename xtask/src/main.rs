// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! `cargo xtask`: the developer's commands.

mod bars;
mod bundle;
mod ci;
mod features;
mod format;
mod kernels;
mod license;
mod markdown;
mod model;
mod new;
mod odd_shapes;
mod opweave;
mod package;
mod process;
mod tests;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The developer's commands of opweave.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the source tree: crate arrows, unsafe code, headers, sizes, invariants
    Tidy,
    /// Format every file, also those that `cargo fmt` does not see
    Fmt(format::Options),
    /// Run all tests, with cargo nextest where it is installed
    Test,
    /// Run every check that a change must pass, and stop at the first that fails
    Ci(ci::Options),
    /// Begin an operator, a kernel or a solution: writes its files and says what is left
    #[command(subcommand)]
    New(new::New),
    /// Validate operators: runs `opweave numerics` with these arguments in release mode
    #[command(disable_help_flag = true)]
    Numerics(opweave::Arguments),
    /// Time operators: runs `opweave bench` with these arguments in release mode
    #[command(disable_help_flag = true)]
    Bench(opweave::Arguments),
    /// Compile the CUDA kernels into images, list and check them
    #[command(subcommand)]
    Kernels(kernels::Kernels),
    /// Check the licences of dependencies against deny.toml, and of our packages
    License,
    /// Pack and build every published crate
    Package,
    /// Compile every published crate with no feature, each one alone, and all
    Features,
    /// Fetch a real model and write it as safetensors, for checks on real data
    Model {
        /// Folder for model.safetensors and config.json [default: .model]
        out: Option<PathBuf>,
    },
    /// Pack binary, kernels and a script for a machine that has a GPU, or an Ascend card, and no Rust
    Bundle(bundle::Options),
    /// Try what the benchmark suite promises on a quiet machine; results go into docs/benchmarking.md
    Bars(bars::Options),
    /// Run the odd shapes of the CPU kernels under valgrind
    OddShapes,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    let root = workspace::root()?;
    match cli.command {
        Command::Tidy => tidy::run(&root)?,
        Command::Fmt(options) => format::run(&root, &options)?,
        Command::Test => tests::run(&root)?,
        Command::Ci(options) => ci::run(&root, &options)?,
        Command::New(new) => new::run(&root, &new)?,
        Command::Numerics(arguments) => return opweave::run(&root, "numerics", &arguments),
        Command::Bench(arguments) => return opweave::run(&root, "bench", &arguments),
        Command::Kernels(command) => kernels::run(&root, &command)?,
        Command::License => license::run(&root)?,
        Command::Package => package::run(&root)?,
        Command::Features => features::run(&root)?,
        Command::Model { out } => drop(model::run(&root, out)?),
        Command::Bundle(options) => bundle::run(&root, &options)?,
        Command::Bars(options) => bars::run(&root, &options)?,
        Command::OddShapes => odd_shapes::run(&root)?,
    }
    Ok(ExitCode::SUCCESS)
}
