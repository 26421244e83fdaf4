// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Trees in memory and what a run says of them.

use opweave_license::finding::Finding;
use opweave_license::lint::{Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::RULES;
use opweave_license::template::known;
use opweave_license::tree::Memory;

/// A policy for native MIT files.
pub(crate) const POLICY: &str = "schema_version = 1
allow = [\"MIT\", \"Apache-2.0\"]
[native]
expression = \"MIT\"
copyright = \"Copyright 2026 Us\"
";

/// The native header in comments with this mark.
pub(crate) fn native(mark: &str) -> String {
    format!("{mark} SPDX-License-Identifier: MIT\n{mark} Copyright 2026 Us\n")
}

/// A tree of these files, with the text of each licence recorded or not.
pub(crate) fn tree(files: &[(&str, &[u8])]) -> Memory {
    let mut tree = Memory::default();
    for (path, bytes) in files {
        tree.file(path, *bytes);
    }
    tree
}

/// What a run finds, without the texts of licences, which are another rule's business.
pub(crate) fn run(policy: &str, tree: &Memory) -> Vec<Finding> {
    let mut policy = Policy::parse("license.toml", policy).unwrap_or_else(|error| panic!("{error}"));
    let report = lint(&mut policy, tree, RULES, &Scope::All).unwrap_or_else(|error| panic!("{error}"));
    report.findings.into_iter().filter(|finding| finding.rule != "L011").collect()
}

/// `rule path:line:column` of each finding.
pub(crate) fn brief(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|f| format!("{} {}:{}:{}", f.rule, f.path, f.line, f.column)).collect()
}

/// What a run under [`POLICY`] says of one file.
pub(crate) fn one(path: &str, bytes: &[u8]) -> Vec<String> {
    brief(&run(POLICY, &tree(&[(path, bytes)])))
}

/// The expression that a file is found to have.
pub(crate) fn expression(path: &str, bytes: &[u8]) -> Option<String> {
    let mut policy = Policy::parse("license.toml", POLICY).unwrap();
    let report = lint(&mut policy, &tree(&[(path, bytes)]), RULES, &Scope::All).unwrap();
    report.expressions.into_iter().map(|(_, expression)| expression).next()
}

/// A licence's text.
pub(crate) fn text(id: &str) -> &'static str {
    known(id).unwrap()
}
