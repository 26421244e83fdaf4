// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! How long files may be, and how many entries the root may have.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

/// No file of code or prose is longer.
const LONGEST: usize = 800;
/// Half of the Rust files stay below this.
const MEDIAN: usize = 150;
/// Entries of the repository's root.
const ROOT_ENTRIES: usize = 26;

/// Files that are read as tables or kept verbatim, which may be as long as their data is.
fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "Cargo.lock"
        || path.starts_with("licenses/")
        || [".json", ".snap", ".jsonl", ".csv"].iter().any(|end| name.ends_with(end))
        || name.ends_with("_table.rs")
}

/// Checks the tree's sizes.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let length = |text: &str| text.lines().count();
    for file in tree.files.iter().filter(|file| !is_data(&file.path)) {
        let lines = length(&file.text);
        if lines > LONGEST {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{lines} lines, at most {LONGEST}: split it by its jobs"),
            ));
        }
    }
    if let Some(median) = median(tree)
        && median >= MEDIAN
    {
        findings.push(Finding::new("", 0, format!("the median Rust file has {median} lines, wanted under {MEDIAN}")));
    }
    let root: BTreeSet<&str> = tree.files.iter().filter_map(|file| file.path.split('/').next()).collect();
    if root.len() > ROOT_ENTRIES {
        let names = root.into_iter().collect::<Vec<_>>().join(" ");
        findings.push(Finding::new("", 0, format!("the root has more than {ROOT_ENTRIES} entries: {names}")));
    }
    findings
}

/// Lines of the median Rust file.
pub(crate) fn median(tree: &Tree) -> Option<usize> {
    let mut lengths: Vec<usize> = tree.rust().map(|file| file.text.lines().count()).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_found() {
        let (long, most) = ("x\n".repeat(LONGEST + 1), "x\n".repeat(LONGEST));
        let found = check(&tree_of(&[("a.md", &long), ("b.md", &most), ("c.json", &long), ("licenses/A.txt", &long)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, "a.md");
    }

    #[test]
    fn a_median_that_is_too_long_is_found() {
        let (long, short) = ("x\n".repeat(MEDIAN), "x\n".repeat(MEDIAN - 1));
        assert!(check(&tree_of(&[("a.rs", &short), ("b.rs", &short), ("c.rs", &long)])).is_empty());
        let found = check(&tree_of(&[("a.rs", &short), ("b.rs", &long), ("c.rs", &long)]));
        assert!(found[0].message.contains("median Rust file has 150 lines"), "{found:?}");
    }

    #[test]
    fn a_crowded_root_is_found() {
        let names: Vec<String> = (0..=ROOT_ENTRIES).map(|n| format!("f{n}/a")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert!(check(&tree_of(&files))[0].message.contains("more than 26 entries"));
        assert!(check(&tree_of(&files[1..])).is_empty());
    }
}
