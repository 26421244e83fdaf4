// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! The invariants of `docs/architecture.md` and the tests that guard them.

use std::collections::BTreeSet;

use crate::markdown::{code_words, table};

use super::tree::Tree;
use super::{ARCHITECTURE, Finding};

const HEADER: [&str; 3] = ["no", "invariant", "guarded by"];

/// Checks that every invariant names tests that exist, or says why none does yet.
pub(crate) fn check(tree: &Tree, architecture: &str) -> Vec<Finding> {
    let Some(rows) = table(architecture, &HEADER) else {
        return vec![Finding::new(ARCHITECTURE, 0, format!("no table with the columns {}", HEADER.join(" | ")))];
    };
    let tests = test_names(tree);
    let mut findings = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let mut problem = |message: String| findings.push(Finding::new(ARCHITECTURE, row.line, message));
        let [number, _, guard] = row.cells.as_slice() else {
            problem(format!("row has {} cells, not 3", row.cells.len()));
            continue;
        };
        if *number != (index + 1).to_string() {
            problem(format!("invariant {number} stands at place {}", index + 1));
        }
        let names = code_words(guard);
        for name in names.iter().filter(|name| !tests.contains(**name)) {
            problem(format!("invariant {number} is guarded by {name}, but no test of that name exists"));
        }
        let later = guard.strip_prefix("later:").is_some_and(|why| why.split_whitespace().count() >= 2);
        if names.is_empty() && !later {
            problem(format!("invariant {number} names no test between backticks, nor says \"later: why\""));
        }
    }
    findings
}

/// Names of every test function in the tree.
fn test_names(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in tree.rust() {
        let source = file.source();
        for (at, text) in source.attributes() {
            if text.trim() != "test" {
                continue;
            }
            let item = &source.code[source.item_after(at)..];
            if let Some((_, rest)) = item.split_once("fn ") {
                names.insert(
                    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default().to_owned(),
                );
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn found(guard: &str) -> Vec<String> {
        let tree = tree_of(&[(
            "crates/a/src/lib.rs",
            "fn helper() {}\n#[test]\n#[should_panic]\nfn real() {}\nproptest! { #[test] fn shaped(a in 0..1) {} }\n// #[test]\n// fn quoted() {}\n",
        )]);
        let text = format!("| no | invariant | guarded by |\n| - | - | - |\n| 1 | x | {guard} |\n");
        check(&tree, &text).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn named_tests_must_exist() {
        assert!(found("`real`, `shaped`").is_empty());
        assert!(found("`real`, `absent`")[0].contains("guarded by absent, but no test"));
        assert!(found("`helper`")[0].contains("no test of that name"));
        assert!(found("`quoted`")[0].contains("no test of that name"));
    }

    #[test]
    fn an_invariant_without_a_test_says_why() {
        assert!(found("later: comes with the first format").is_empty());
        assert!(found("later:")[0].contains("names no test"));
        assert!(found("")[0].contains("names no test"));
        assert!(found("real")[0].contains("names no test"));
    }

    #[test]
    fn numbers_run_without_gaps() {
        let text = "| no | invariant | guarded by |\n| - | - | - |\n| 2 | x | later: a b |\n";
        assert!(check(&tree_of(&[]), text)[0].message.contains("stands at place 1"));
    }
}
