// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! All tests: the examples of the documentation first, then each test in a process of its own, so that a log ends with the
//! runner's own summary.

use std::path::Path;

use anyhow::Result;

use crate::process::Program;

/// Runs them with `cargo nextest`, or without it with `cargo test`.
///
/// # Errors
/// If a test fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    if Program::cargo(root).args("nextest --version").read().is_err() {
        return Program::cargo(root).args("test --locked --workspace --no-fail-fast").run();
    }
    Program::cargo(root).args("test --locked --workspace --doc").run()?;
    Program::cargo(root).args("nextest run --locked --workspace --no-fail-fast").run()
}
