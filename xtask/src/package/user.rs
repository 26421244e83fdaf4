// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The packages as an engine gets them: `tests/packaged` depends on their names and versions alone and is tested with those
//! that were just made.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, Package};

use crate::process::Program;

/// Where the images lie before they are packed.
const INDEX: &str = "kernels-cuda/images/index.json";

/// Tests the crate; with no images built there is nothing to find in a package, which is said.
///
/// # Errors
/// If the crate does not build or its tests fail.
pub(super) fn run(root: &Path, metadata: &Metadata, packages: &[&Package]) -> Result<()> {
    if !root.join(INDEX).is_file() {
        println!("package: the user of the packages was not run: no kernel is built (cargo xtask kernels build)");
        return Ok(());
    }
    let folder = root.join("tests/packaged");
    // The versions that everything else is tested with; cargo takes out what the crate does not need.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).context("failed to copy Cargo.lock")?;
    let target = metadata.target_directory.join("packaged");
    let mut cargo =
        Program::cargo(&folder).env("CARGO_TARGET_DIR", &target).args("test --quiet --config profile.dev.debug=false");
    for package in packages {
        let unpacked = metadata.target_directory.join(format!("package/{}-{}", package.name, package.version));
        cargo = cargo.arg("--config").arg(format!("patch.crates-io.{}.path={:?}", package.name, unpacked.as_str()));
    }
    // An image that lies elsewhere would be no answer.
    cargo.env("OPWEAVE_KERNELS", "").run()?;
    println!("package: an engine with the packages alone finds every kernel");
    Ok(())
}
