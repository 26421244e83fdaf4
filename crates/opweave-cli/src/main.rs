// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The binary `opweave`.
//!
//! It reads arguments, calls one command and turns its outcome into an exit code; what is measured and decided lives in
//! the libraries.

mod args;
mod commands;
mod exit;
mod interrupt;
mod log;
mod names;
mod output;
mod progress;
mod solutions;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use opweave_numerics::suite::SuiteSet;

use args::{Cli, Command};
use exit::{Exit, Failure};
use output::Output;

fn main() -> ExitCode {
    let suites = match opweave_numerics::suites::builtin() {
        Ok(suites) => suites,
        Err(defect) => {
            eprintln!("error: failed to list the suites: {defect}");
            return Exit::Bad.into();
        }
    };
    // clap itself ends with 2 on a usage error and with 0 on --help.
    let matches = args::suites::extend(Cli::command(), &suites).get_matches();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    log::start(cli.verbose);
    let mut out = Output::stdout(cli.color);
    let arguments = args::suites::values(&matches, &suites);
    let outcome = run(&cli, &suites, arguments, &mut out).and_then(|exit| out.flush().map(|()| exit));
    match outcome {
        Ok(exit) => exit.into(),
        // Whoever closed the pipe has read enough.
        Err(failure) if failure.is_broken_pipe() => Exit::Good.into(),
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit().into()
        }
    }
}

fn run(cli: &Cli, suites: &SuiteSet, arguments: Vec<(String, String)>, out: &mut Output) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Catalog(args) => commands::catalog::run(args, out),
        Command::Explain(args) => commands::explain::run(args, out),
        Command::Devices(args) => commands::devices::run(args, out),
        Command::Numerics(args) => commands::numerics::run(args, suites, arguments, out),
        Command::Bench(args) => commands::bench::run(args, suites, arguments, out),
        Command::Suite(args) => commands::suite::run(args, suites, out),
        Command::Promote(args) => commands::promote::run(args, out),
        Command::History(args) => commands::history::run(args, out),
        Command::Report(args) => commands::report::run(args, out),
        Command::Compare(args) => commands::compare::run(args, out),
        Command::License(args) => commands::license::run(args, out),
    }
}
