// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave license init`: a policy out of what a tree says, with marks where a person must decide.

mod survey;
mod write;

use std::io;

use crate::tree::Tree;

/// The mark of a line that a person must look at.
pub const HUMAN: &str = "HUMAN:";

/// A proposed policy.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The policy file's text. It can be read as a policy as it is.
    pub text: String,
    /// How many lines carry [`HUMAN`].
    pub questions: usize,
    /// How many files were looked at.
    pub files: usize,
}

/// Proposes a policy for a tree.
///
/// # Errors
/// If the tree cannot be listed.
pub fn propose(tree: &dyn Tree) -> io::Result<Proposal> {
    let survey = survey::take(tree)?;
    let text = write::policy(&survey);
    let questions = text.lines().filter(|line| line.contains(HUMAN)).count();
    Ok(Proposal { text, questions, files: survey.files })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::{Scope, lint};
    use crate::policy::Policy;
    use crate::rules::RULES;
    use crate::template::known;
    use crate::tree::Memory;

    fn tree() -> Memory {
        let mut tree = Memory::default();
        for name in ["a", "b", "c"] {
            tree.file(
                &format!("src/{name}.rs"),
                "// SPDX-License-Identifier: MIT\n// Copyright 2024 The Makers\nfn f() {}\n",
            );
        }
        tree.file("src/new.rs", "fn f() {}\n");
        tree.file("data/x.json", "{}");
        tree.file("data/y.json", "{}");
        tree.file("kernels/foo/k.cu", "// Copyright (c) 2023 Foo Inc.\n// Adapted from https://example.org/foo/foo\n");
        tree.file("LICENSE", known("MIT").unwrap().replace("<year> <copyright holders>", "2024 The Makers"));
        tree
    }

    #[test]
    fn a_proposal_is_a_policy_and_marks_what_needs_a_person() {
        let mut tree = tree();
        let proposal = propose(&tree).unwrap();
        let mut policy =
            Policy::parse("license.toml", &proposal.text).unwrap_or_else(|error| panic!("{error}\n{}", proposal.text));
        assert_eq!(
            (policy.native.text.as_str(), policy.native.copyright.as_str()),
            ("MIT", "Copyright 2024 The Makers")
        );
        assert!(proposal.questions > 0 && proposal.text.contains("kernels/foo"), "{}", proposal.text);
        // What is left to do is a header, a text and the port.
        tree.file("license.toml", proposal.text);
        let report = lint(&mut policy, &tree, RULES, &Scope::All).unwrap();
        let rules: Vec<String> = report.findings.iter().map(|f| format!("{} {}", f.rule, f.path)).collect();
        assert_eq!(rules, ["L011 data/x.json", "L002 kernels/foo/k.cu", "L001 src/new.rs"]);
    }

    #[test]
    fn the_proposal_reads_well() {
        insta::assert_snapshot!(propose(&tree()).unwrap().text);
    }

    #[test]
    fn an_empty_tree_gets_a_policy_too() {
        let proposal = propose(&Memory::default()).unwrap();
        assert!(Policy::parse("license.toml", &proposal.text).is_ok(), "{}", proposal.text);
    }
}
