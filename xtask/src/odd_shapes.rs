// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The CPU kernels' odd shapes under valgrind: a read or write past a row's end shows even where nothing else does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use crate::process::Program;

/// The test binary of the CPU solution's kernels, and what the names of its tests on shapes that fit no vector begin with.
const TEST: &str = "normalization";
const FILTER: &str = "odd_";

/// Builds that test and runs it under valgrind.
///
/// # Errors
/// If valgrind is missing, finds a wrong access or a use of an uninitialised value, if a test fails, or if there is none.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = build(root)?;
    let listed = Program::new(&binary, root).arg(FILTER).args("--list --format terse").read()?;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    if names.is_empty() {
        bail!("{TEST} has no test whose name begins with {FILTER}");
    }
    Program::new("valgrind", root)
        .args("--quiet --error-exitcode=9 --leak-check=no")
        .arg(&binary)
        .arg(FILTER)
        .args("--test-threads 1")
        .run()
        .context("valgrind is a package of the system (apt-get install valgrind)")?;
    println!("odd shapes: {} tests clean under valgrind", names.len());
    Ok(())
}

fn build(root: &Path) -> Result<PathBuf> {
    let cargo = Program::cargo(root).args("test --locked --no-run --message-format json --package opweave-cpu --test");
    let messages = cargo.arg(TEST).read()?;
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message?
            && artifact.target.name == TEST
            && let Some(binary) = artifact.executable
        {
            return Ok(binary.into());
        }
    }
    bail!("cargo built no test {TEST}")
}
