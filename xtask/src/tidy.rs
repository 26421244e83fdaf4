// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Checks of the source tree: what a reviewer would otherwise have to look for every time.
//!
//! Each rule is a file that takes the tree and returns findings, and tests itself on a bad example. The documents are
//! the rules' data: the crate table, the unsafe table and the invariants are read out of `docs/architecture.md`.

mod arrows;
mod headers;
mod invariants;
mod modesty;
mod pages;
mod places;
mod sizes;
mod source;
mod stems;
mod style;
mod tree;
mod unsafety;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{DependencyKind, Metadata};

pub(crate) use tree::Tree;

/// The document that the rules read.
const ARCHITECTURE: &str = "docs/architecture.md";

/// Something to mend; `line` 0 means the whole file, an empty path the whole tree.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub path: String,
    pub line: usize,
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: String) -> Self {
        Finding { path: path.to_owned(), line, message }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", _) => write!(f, "{}", self.message),
            (path, 0) => write!(f, "{path}: {}", self.message),
            (path, line) => write!(f, "{path}:{line}: {}", self.message),
        }
    }
}

/// Every finding on the tree under `root`, sorted.
///
/// # Errors
/// If the tree could not be read.
pub(crate) fn findings(root: &Path) -> Result<Vec<Finding>> {
    check(&Tree::read(root)?, &crate::workspace::members(root)?)
}

/// Runs every rule on the tree under `root` and prints the findings.
///
/// # Errors
/// If a rule found something, or the tree could not be read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let tree = Tree::read(root)?;
    let findings = check(&tree, &crate::workspace::members(root)?)?;
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy has {} findings", findings.len());
    }
    let median = sizes::median(&tree).unwrap_or(0);
    println!("tidy: {} files, median Rust file {median} lines, no findings", tree.files.len());
    Ok(())
}

/// Every rule's findings, sorted.
fn check(tree: &Tree, metadata: &Metadata) -> Result<Vec<Finding>> {
    let architecture = tree.text(ARCHITECTURE).with_context(|| format!("{ARCHITECTURE} is missing"))?;
    let mut findings = arrows::check(architecture, &graph(metadata));
    findings.extend(headers::check(tree));
    findings.extend(invariants::check(tree, architecture));
    findings.extend(modesty::check(tree, architecture));
    findings.extend(pages::check(tree));
    findings.extend(places::check(tree));
    findings.extend(sizes::check(tree));
    findings.extend(stems::check(tree));
    findings.extend(style::check(tree));
    findings.extend(unsafety::check(tree, architecture));
    findings.sort();
    Ok(findings)
}

/// Normal and build dependencies among the workspace's own packages.
fn graph(metadata: &Metadata) -> arrows::Graph {
    let members = metadata.workspace_packages();
    let own: BTreeSet<&str> = members.iter().map(|package| package.name.as_str()).collect();
    members
        .iter()
        .map(|package| {
            let targets = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind != DependencyKind::Development)
                .filter(|dependency| own.contains(dependency.name.as_str()))
                .map(|dependency| dependency.name.clone());
            (package.name.to_string(), targets.collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let findings = findings(&crate::workspace::root().unwrap()).unwrap();
        let text: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(text.is_empty(), "{}", text.join("\n"));
    }
}
