// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! One stem runs through an operator's whole life: contract, reference, kernel, public function, suite, page.

use super::Finding;
use super::tree::Tree;

/// Folder of the contracts: `<family>/<operator>.rs` below it.
const OPERATORS: &str = "crates/opweave-contract/src/ops/";

/// Folders that must hold `<family>/<stem>.EXT` or `<stem>.EXT` for every operator, and what they hold.
const PLACES: [(&str, &str, &str); 5] = [
    ("crates/opweave-reference/src", "rs", "f64 reference"),
    ("crates/opweave-cpu/src", "rs", "CPU kernel"),
    ("crates/opweave/src", "rs", "public function"),
    ("crates/opweave-numerics/src/suites", "rs", "suite"),
    ("docs/contracts", "md", "contract page"),
];

/// The operators as (family, stem): files of a family that declare one.
pub(crate) fn operators(tree: &Tree) -> Vec<(&str, &str)> {
    tree.rust()
        .filter_map(|file| {
            let (family, name) = file.path.strip_prefix(OPERATORS)?.split_once('/')?;
            let stem = name.strip_suffix(".rs").filter(|stem| *stem != "mod" && !stem.contains('/'))?;
            let declares = file.source().code.contains("operator!");
            declares.then_some((family, stem))
        })
        .collect()
}

/// Checks that each operator's stem is in every place. A place without a single operator is left out.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let operators = operators(tree);
    for (place, extension, what) in PLACES {
        let holds = |stem: &str| {
            let file = format!("/{stem}.{extension}");
            tree.files.iter().any(|f| f.path.starts_with(place) && f.path.ends_with(&file))
        };
        if !operators.iter().any(|(_, stem)| holds(stem)) {
            continue;
        }
        for (family, stem) in &operators {
            let file = format!("/{stem}.{extension}");
            if !holds(stem) {
                let message = format!("operator {stem} of {family} has no {what}: {place}/**{file} is missing");
                findings.push(Finding::new(&format!("{OPERATORS}{family}/{stem}.rs"), 0, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    const OTHER: (&str, &str) = ("crates/opweave-contract/src/ops/normalization/rms_norm.rs", "operator! {}");
    const CONTRACT: (&str, &str) = ("crates/opweave-contract/src/ops/normalization/l2_norm.rs", "operator! {}");

    #[test]
    fn an_operator_without_its_page_is_found() {
        let found = check(&tree_of(&[CONTRACT, OTHER, ("docs/contracts/rms_norm.md", "")]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("l2_norm of normalization has no contract page"), "{found:?}");
        let both = [CONTRACT, OTHER, ("docs/contracts/rms_norm.md", ""), ("docs/contracts/l2_norm.md", "")];
        assert!(check(&tree_of(&both)).is_empty());
    }

    #[test]
    fn an_operator_without_a_kernel_is_found() {
        let tree = tree_of(&[CONTRACT, OTHER, ("crates/opweave-cpu/src/norm/rms_norm.rs", "")]);
        assert!(check(&tree)[0].message.contains("l2_norm of normalization has no CPU kernel"));
        assert!(check(&tree_of(&[CONTRACT, OTHER])).is_empty(), "a place that is not begun");
    }

    #[test]
    fn files_that_declare_no_operator_have_no_stem() {
        let helper = ("crates/opweave-contract/src/ops/normalization/modes.rs", "pub enum Mode {}");
        assert_eq!(operators(&tree_of(&[CONTRACT, helper])), [("normalization", "l2_norm")]);
    }
}
