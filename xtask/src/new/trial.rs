// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Everything that `cargo xtask new` can begin, begun in a copy of the tree, built, checked and run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{New, operator, scaffold};
use crate::format;
use crate::process::Program;
use crate::tidy::{self, Tree};

/// The copy's place, and that of what is built from it: both stay for the next time.
const COPY: &str = "target/scaffold/tree";
const BUILD: &str = "target/scaffold/build";

/// Packages that a developer's build optimises. What is run once need not be fast, and optimising is most of the work.
const OPTIMISED: [&str; 4] = ["opweave-cpu", "opweave-license", "opweave-numerics", "opweave-reference"];

/// How many cases a suite has at least.
const CASES: usize = 100;

/// Begins one of each in a copy of the tree under `root`.
///
/// # Errors
/// If a skeleton does not fit the tree, does not build without a warning, is not tidy, or fails its numerics.
pub(crate) fn run(root: &Path) -> Result<()> {
    let copy = root.join(COPY);
    begin(root, &copy)?;
    turn_on(&copy)?;
    judge(&copy)?;

    let cargo = || Program::cargo(&copy).env("CARGO_TARGET_DIR", root.join(BUILD));
    cargo().args("clippy --quiet --offline --workspace -- -D warnings").run()?;
    let opweave = |arguments: &str| {
        let quick = OPTIMISED.map(|package| format!("--config profile.dev.package.{package}.opt-level=0"));
        let run = cargo().args("run --quiet --offline --package opweave-cli --config profile.dev.debug=false");
        run.args(&quick.join(" ")).args("-- numerics").args(arguments)
    };
    let numerics = |arguments: &str| opweave(arguments).run();
    let operations: Vec<String> = operators(root)?.iter().map(|(_, name)| format!("--operation {name}")).collect();
    numerics(&operations.join(" "))?;
    let list = opweave("--list --operation trial_scale").read()?;
    let cases: BTreeSet<String> =
        list.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    if cases.len() < CASES {
        bail!("the suite of a new operator has {} cases, and its test wants {CASES}", cases.len());
    }
    for row in ["cpu.native.rms_norm.trial", "cpu.native.trial_normalization.other", "cpu.trial.rms_norm"] {
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
    let mut all = Vec::new();
    for (family, operator) in operators(root)? {
        all.push(New::Operator { family: name(&family)?, name: name(&operator)? });
    }
    all.extend([
        New::Kernel { operator: name("rms_norm")?, variant: name("trial")? },
        New::Kernel { operator: name("trial_normalization")?, variant: name("other")? },
        New::Solution { name: name("trial")? },
    ]);
    for new in all {
        scaffold(copy, &new)?.write(copy)?;
    }
    format::run(copy, &format::Options::default())
}

/// An operator for each family of the tree, and two for one that is begun with them.
fn operators(root: &Path) -> Result<Vec<(String, String)>> {
    let known = operator::families(root)?
        .into_iter()
        .filter(|family| family != "trial")
        .map(|family| (family.clone(), format!("trial_{family}")));
    Ok(known.chain(["trial_scale", "another_scale"].map(|name| ("trial".to_owned(), name.to_owned()))).collect())
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

/// Checks that the copy is tidy but for what the skeletons leave open: the generated parts of the operators' pages.
fn judge(copy: &Path) -> Result<()> {
    let found = tidy::findings(copy)?;
    let pages: BTreeSet<String> =
        operators(copy)?.iter().map(|(_, name)| format!("docs/contracts/{name}.md")).collect();
    let (open, wrong): (Vec<_>, Vec<_>) =
        found.iter().partition(|finding| pages.contains(&finding.path) && finding.message.contains("fills it"));
    if !wrong.is_empty() || open.len() != 2 * pages.len() {
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        bail!("the skeletons are not tidy, or tidy does not say what is open in them:\n{}", found.join("\n"));
    }
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
        judge(&copy).unwrap();
    }
}
