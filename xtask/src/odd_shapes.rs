// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The CPU kernels' odd shapes under valgrind: a read or write past a row's end shows even where nothing else does.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

use crate::process::Program;

/// The test binary of the CPU solution that runs every kernel path on shapes that fit no vector.
const TEST: &str = "odd_shapes";

/// Builds that test and runs it under valgrind.
///
/// # Errors
/// If valgrind is missing, finds a wrong access or a use of an uninitialised value, or a test fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = build(root)?;
    Program::new("valgrind", root)
        .args("--quiet --error-exitcode=9 --leak-check=no")
        .arg(&binary)
        .args("--test-threads 1")
        .run()
        .context("valgrind is a package of the system (apt-get install valgrind)")
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
