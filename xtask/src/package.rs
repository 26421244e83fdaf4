// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Every published crate packs and builds from its package alone.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::Program;
use crate::workspace::{members, published};

/// Runs `cargo package` on the published crates and looks into the packages.
///
/// # Errors
/// If the tree has uncommitted changes (what is packed must be what is committed), a package misses its licence, or
/// one does not build.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = members(root)?;
    let dirty = Program::new("git", root).args("status --porcelain").read()?;
    if !dirty.is_empty() {
        bail!("packages are made of committed files; commit or remove these first:\n{}", dirty.trim_end());
    }
    let packages = published(&metadata);
    for package in &packages {
        let list = Program::cargo(root).args("package --locked --list --package").arg(package.name.as_str()).read()?;
        for wanted in ["LICENSE", "NOTICE"] {
            if !list.lines().any(|file| file == wanted) {
                bail!("the package of {} holds no {wanted}", package.name);
            }
        }
    }
    let mut cargo = Program::cargo(root).args("package --quiet --locked");
    for package in &packages {
        cargo = cargo.args("--package").arg(package.name.as_str());
    }
    cargo.run()?;
    println!("package: {} packages build from what they hold", packages.len());
    Ok(())
}
