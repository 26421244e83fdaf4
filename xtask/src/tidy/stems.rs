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

/// Checks that each operator's stem is in every place. A place that does not exist at all is left out.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (family, stem) in operators(tree) {
        for (place, extension, what) in PLACES.iter().filter(|(place, _, _)| exists(tree, place)) {
            let file = format!("/{stem}.{extension}");
            let found = tree.files.iter().any(|f| f.path.starts_with(place) && f.path.ends_with(&file));
            if !found {
                let message = format!("operator {stem} of {family} has no {what}: {place}/**{file} is missing");
                findings.push(Finding::new(&format!("{OPERATORS}{family}/{stem}.rs"), 0, message));
            }
        }
    }
    findings
}

/// Whether `place` holds more than the bare root of a crate.
fn exists(tree: &Tree, place: &str) -> bool {
    tree.files.iter().any(|file| {
        file.path.strip_prefix(place).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| rest != "lib.rs")
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    const CONTRACT: (&str, &str) = ("crates/opweave-contract/src/ops/normalization/l2_norm.rs", "operator! {}");

    #[test]
    fn an_operator_without_its_page_is_found() {
        let tree = tree_of(&[CONTRACT, ("docs/contracts/rms_norm.md", "")]);
        let found = check(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("l2_norm of normalization has no contract page"), "{found:?}");
        assert!(check(&tree_of(&[CONTRACT, ("docs/contracts/l2_norm.md", "")])).is_empty());
    }

    #[test]
    fn an_operator_without_a_kernel_is_found() {
        let tree = tree_of(&[
            CONTRACT,
            ("crates/opweave-cpu/src/lib.rs", ""),
            ("crates/opweave-cpu/src/norm/rms_norm.rs", ""),
        ]);
        assert!(check(&tree)[0].message.contains("has no CPU kernel"));
    }

    #[test]
    fn files_that_declare_no_operator_have_no_stem() {
        let helper = ("crates/opweave-contract/src/ops/normalization/modes.rs", "pub enum Mode {}");
        assert_eq!(operators(&tree_of(&[CONTRACT, helper])), [("normalization", "l2_norm")]);
    }
}
