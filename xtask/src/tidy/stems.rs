// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! One stem runs through an operator's whole life: contract, reference, kernel, public function, suite, page.

use super::Finding;
use super::tree::Tree;

/// Folder of the contracts: `<family>/<operator>.rs` below it.
const OPERATORS: &str = "crates/opweave-contract/src/ops/";

/// Folders that must hold `<family>/<stem>.EXT` or `<stem>.EXT` for every operator, and what they hold.
const PLACES: [(&str, &str, &str); 6] = [
    ("crates/opweave-reference/src", "rs", "f64 reference"),
    ("crates/opweave-cpu/src", "rs", "CPU kernel"),
    ("crates/opweave/src", "rs", "public function"),
    ("crates/opweave-numerics/src/suites", "rs", "suite"),
    ("docs/contracts", "md", "contract page"),
    ("suites", "toml", "workload file"),
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

/// Checks that each operator's stem is in every place, and that every page is an operator's.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let operators = operators(tree);
    for (family, stem) in &operators {
        let list = format!("{OPERATORS}{family}/mod.rs");
        let listed = tree.text(&list).is_some_and(|text| text.contains(&format!("            {stem}: ")));
        if !listed {
            let message = format!("operator {stem} is not in {family}_operators! of {list}: nothing would compile it");
            findings.push(Finding::new(&format!("{OPERATORS}{family}/{stem}.rs"), 0, message));
        }
        for (place, extension, what) in PLACES {
            let file = format!("/{stem}.{extension}");
            if !tree.files.iter().any(|f| f.path.starts_with(place) && f.path.ends_with(&file)) {
                let message = format!("operator {stem} of {family} has no {what}: {place}/**{file} is missing");
                findings.push(Finding::new(&format!("{OPERATORS}{family}/{stem}.rs"), 0, message));
            }
        }
    }
    for file in &tree.files {
        let page = file.path.strip_prefix("docs/contracts/").and_then(|name| name.strip_suffix(".md"));
        if page.is_some_and(|page| page != "README" && operators.iter().all(|(_, stem)| *stem != page)) {
            findings.push(Finding::new(&file.path, 0, "is the page of no operator".into()));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    const CONTRACT: (&str, &str) = ("crates/opweave-contract/src/ops/normalization/l2_norm.rs", "operator! {}");
    const LIST: (&str, &str) =
        ("crates/opweave-contract/src/ops/normalization/mod.rs", "            l2_norm: L2Norm,\n");
    const ALL: [&str; 6] = [
        "crates/opweave-reference/src/ops/normalization/l2_norm.rs",
        "crates/opweave-cpu/src/ops/normalization/l2_norm.rs",
        "crates/opweave/src/ops/normalization/l2_norm.rs",
        "crates/opweave-numerics/src/suites/normalization/l2_norm.rs",
        "docs/contracts/l2_norm.md",
        "suites/normalization/l2_norm.toml",
    ];

    #[test]
    fn an_operator_that_lacks_one_of_its_files_is_found() {
        let tree = |left_out: usize| {
            let kept = ALL.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, path)| (*path, ""));
            tree_of(&kept.chain([CONTRACT, LIST]).collect::<Vec<_>>())
        };
        assert!(check(&tree(ALL.len())).is_empty());
        for (at, (_, _, what)) in PLACES.iter().enumerate() {
            let found = check(&tree(at));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].message.contains(&format!("l2_norm of normalization has no {what}")), "{found:?}");
        }
    }

    #[test]
    fn an_operator_that_its_family_does_not_list_is_found() {
        let list = (LIST.0, "macro_rules! normalization_operators {\n            rms_norm: RmsNorm,\n}\n");
        let files: Vec<_> = ALL.iter().map(|path| (*path, "")).chain([CONTRACT, list]).collect();
        let found = check(&tree_of(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.contains("l2_norm is not in normalization_operators! of"), "{found:?}");
    }

    #[test]
    fn a_page_of_no_operator_is_found() {
        let found = check(&tree_of(&[("docs/contracts/old_norm.md", ""), ("docs/contracts/README.md", "")]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "docs/contracts/old_norm.md: is the page of no operator");
    }

    #[test]
    fn files_that_declare_no_operator_have_no_stem() {
        let helper = ("crates/opweave-contract/src/ops/normalization/modes.rs", "pub enum Mode {}");
        assert_eq!(operators(&tree_of(&[CONTRACT, helper])), [("normalization", "l2_norm")]);
    }
}
