// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The CPU kernels' odd shapes under valgrind: a read or write past a row's end shows even where nothing else does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use crate::process::Program;

/// The test binaries of the CPU solution's kernels, and what the names of their tests on shapes that fit no vector begin with.
const TESTS: [&str; 3] = ["normalization", "activation", "softmax"];
const FILTER: &str = "odd_";

/// Builds those tests and runs them under valgrind.
///
/// # Errors
/// If valgrind is missing, finds a wrong access or a use of an uninitialised value, if a test fails, or if there is none.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binaries = TESTS.iter().map(|test| build(root, test)).collect::<Result<Vec<_>>>()?;
    // Valgrind runs a program's threads one at a time: the programs share the cores instead.
    std::thread::scope(|scope| {
        let running: Vec<_> =
            TESTS.iter().zip(&binaries).map(|(test, binary)| scope.spawn(|| run_one(root, test, binary))).collect();
        running.into_iter().try_for_each(|run| run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn run_one(root: &Path, test: &str, binary: &Path) -> Result<()> {
    let listed = Program::new(binary, root).arg(FILTER).args("--list --format terse").read()?;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    if names.is_empty() {
        bail!("{test} has no test whose name begins with {FILTER}");
    }
    Program::new("valgrind", root)
        .args("--quiet --error-exitcode=9 --leak-check=no")
        .arg(binary)
        .arg(FILTER)
        .args("--test-threads 1")
        .run()
        .context("valgrind is a package of the system (apt-get install valgrind)")?;
    println!("odd shapes of {test}: {} tests clean under valgrind", names.len());
    Ok(())
}

fn build(root: &Path, test: &str) -> Result<PathBuf> {
    // Of the whole workspace: with the features of the tests, so that the kernels are built once for both.
    let cargo = Program::cargo(root).args("test --locked --no-run --message-format json --workspace --test");
    let messages = cargo.arg(test).read()?;
    let kernels = root.join("crates/opweave-cpu");
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artifact) = message?
            && artifact.target.name == test
            && artifact.target.src_path.starts_with(&kernels)
            && let Some(binary) = artifact.executable
        {
            return Ok(binary.into());
        }
    }
    bail!("cargo built no test {test}")
}
