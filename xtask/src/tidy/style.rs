// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Two habits that hide problems: `#[allow(..)]`, which outlives its cause, and `unwrap()`, which names none.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// Checks every Rust file of the tree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust() {
        let source = file.source();
        let mut problem = |at: usize, message: &str| {
            findings.push(Finding::new(&file.path, source.line_of(at) + 1, message.to_owned()));
        };
        for (at, text) in source.attributes() {
            if has_allow(text) {
                problem(at, "#[allow(..)]: use #[expect(.., reason = \"..\")], which fails once its cause is gone");
            }
        }
        for at in unwraps(&source) {
            problem(at, "unwrap() outside tests: return the error, or expect() with the reason why it cannot fail");
        }
    }
    findings
}

fn has_allow(attribute: &str) -> bool {
    attribute.split(|c: char| c.is_whitespace() || c == ',').any(|word| word.starts_with("allow("))
}

fn unwraps(source: &Source<'_>) -> Vec<usize> {
    source
        .words("unwrap")
        .filter(|&at| source.code[at..].starts_with("unwrap()") && source.code[..at].trim_end().ends_with('.'))
        .filter(|&at| !source.is_test(at))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&tree_of(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn allow_is_found_in_every_form_and_place() {
        let text = "#![allow(x)]\n#[expect(y, reason = \"z\")]\nfn a() {}\n#[cfg_attr(unix, allow(x))]\nfn b() {}\n#[cfg(test)]\nmod t {\n    #[allow(x)]\n    fn c() {}\n}\n// #[allow(x)]\n";
        assert_eq!(found("crates/a/src/lib.rs", text), [1, 4, 8]);
    }

    #[test]
    fn unwrap_is_found_outside_tests_only() {
        let text = "fn a() { b().unwrap(); c()\n    .unwrap(); d().unwrap_or(1); }\n#[cfg(test)]\nmod t { fn e() { f().unwrap() } }\n/// `x.unwrap()`\nfn g() {}\n";
        assert_eq!(found("crates/a/src/lib.rs", text), [1, 2]);
        assert_eq!(found("crates/a/tests/it.rs", text), Vec::<usize>::new());
    }
}
