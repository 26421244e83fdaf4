// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Everything that `cargo xtask new` can begin, begun in a copy of the tree, built, checked and run.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{New, scaffold};
use crate::process::Program;
use crate::tidy::{self, Tree};

/// The copy's place, and that of what is built from it: both stay for the next time.
const COPY: &str = "target/scaffold/tree";
const BUILD: &str = "target/scaffold/build";

/// Begins one of each in a copy of the tree under `root`.
///
/// # Errors
/// If a skeleton does not fit the tree, does not build without a warning, is not tidy, or fails its numerics.
pub(crate) fn run(root: &Path) -> Result<()> {
    let copy = root.join(COPY);
    begin(root, &copy)?;
    turn_on(&copy)?;
    tidy::run(&copy).context("the skeletons are not tidy")?;

    let cargo = || Program::cargo(&copy).env("CARGO_TARGET_DIR", root.join(BUILD));
    cargo().args("clippy --quiet --offline --workspace -- -D warnings").run()?;
    let numerics =
        |arguments: &str| cargo().args("run --quiet --offline --package opweave-cli -- numerics").args(arguments).run();
    numerics("--operation trial_norm --operation trial_scale --operation another_scale")?;
    for row in ["cpu.native.rms_norm.trial", "cpu.native.trial_norm.other", "cpu.trial.rms_norm"] {
        numerics(&format!("--implementation {row}"))?;
    }
    println!("scaffold: what `cargo xtask new` writes builds, is tidy and passes its numerics");
    Ok(())
}

/// Copies the tree to `copy` and begins one of each there.
fn begin(root: &Path, copy: &Path) -> Result<()> {
    if copy.exists() {
        fs::remove_dir_all(copy).context("failed to remove the last copy")?;
    }
    for file in Tree::read(root)?.files {
        let (from, to) = (root.join(&file.path), copy.join(&file.path));
        fs::create_dir_all(to.parent().unwrap_or(copy))?;
        if file.link {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to).with_context(|| format!("failed to copy {}", file.path))?;
        }
    }
    Program::new("git", copy).args("init --quiet .").run()?;
    let name = |text: &str| text.parse().map_err(anyhow::Error::msg);
    for new in [
        New::Operator { family: name("normalization")?, name: name("trial_norm")? },
        New::Operator { family: name("trial")?, name: name("trial_scale")? },
        New::Operator { family: name("trial")?, name: name("another_scale")? },
        New::Kernel { operator: name("rms_norm")?, variant: name("trial")? },
        New::Kernel { operator: name("trial_norm")?, variant: name("other")? },
        New::Solution { name: name("trial")? },
    ] {
        scaffold(copy, &new)?.write(copy)?;
        Program::cargo(copy).args("fmt --all").run()?;
    }
    Ok(())
}

/// What the solution's skeleton leaves to its author: the binary has it.
fn turn_on(copy: &Path) -> Result<()> {
    let path = copy.join("crates/opweave-cli/Cargo.toml");
    let text = fs::read_to_string(&path)?;
    let features = "features = [";
    if !text.lines().any(|line| line.starts_with("opweave = {") && line.contains(features)) {
        bail!("crates/opweave-cli/Cargo.toml turns on no feature of opweave: this trial has no place for its own");
    }
    let lines = text.lines().map(|line| {
        if line.starts_with("opweave = {") {
            line.replacen(features, "features = [\"trial\", ", 1)
        } else {
            line.to_owned()
        }
    });
    fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree changes, and with it the places that a skeleton's lines go to.
    #[test]
    fn skeletons_fit_the_tree_and_are_tidy() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("tree");
        begin(&crate::workspace::root().unwrap(), &copy).unwrap();
        tidy::run(&copy).unwrap();
    }
}
