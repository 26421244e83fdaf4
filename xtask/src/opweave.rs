// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The `opweave` binary, run as a user would run it.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::process::Program;

/// What is handed to the binary as it is.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Builds the binary in release mode and runs its subcommand; its exit code is ours, since it carries a meaning.
pub(crate) fn run(root: &Path, subcommand: &str, arguments: &Arguments) -> Result<ExitCode> {
    let code = arguments.words.iter().fold(release(root).arg(subcommand), Program::arg).code()?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// The call of the binary in release mode, without arguments.
pub(crate) fn release(root: &Path) -> Program {
    Program::cargo(root).args("run --quiet --release --locked --package opweave-cli --bin opweave --")
}
