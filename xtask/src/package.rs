// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Every published crate packs and builds from its package alone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package};

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
    // From here on only files that git ignores differ from what is committed: images of kernels, which cargo takes for dirt.
    const ALLOW: &str = "--allow-dirty";
    let packages = published(&metadata);
    for package in &packages {
        let list = Program::cargo(root)
            .args("package --locked --list")
            .arg(ALLOW)
            .arg("--package")
            .arg(package.name.as_str())
            .read()?;
        for wanted in ["LICENSE", "NOTICE"] {
            if !list.lines().any(|file| file == wanted) {
                bail!("the package of {} holds no {wanted}", package.name);
            }
        }
    }
    let mut cargo = Program::cargo(root).args("package --quiet --locked").arg(ALLOW);
    for package in &packages {
        cargo = cargo.args("--package").arg(package.name.as_str());
    }
    cargo.run()?;
    sizes(&metadata, &packages)?;
    println!("package: {} packages build from what they hold", packages.len());
    Ok(())
}

/// The registry takes packages of up to 10 MB, and images travel in one.
const LARGEST: u64 = 10_000_000;

fn sizes(metadata: &Metadata, packages: &[&Package]) -> Result<()> {
    for package in packages {
        let file = format!("package/{}-{}.crate", package.name, package.version);
        let path = metadata.target_directory.join(file);
        let bytes = fs::metadata(&path).with_context(|| format!("failed to look at {path}"))?.len();
        if bytes > LARGEST {
            bail!("the package of {} has {bytes} bytes, at most {LARGEST}", package.name);
        }
    }
    Ok(())
}
