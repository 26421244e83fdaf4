// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The rules, one file each.
//!
//! A rule looks at one file, or at the whole tree once every file was seen. No rule knows another: each says by itself
//! when it applies, so that one cause is one finding.

mod l001_missing_header;
mod l002_one_spdx_line;
mod l003_invalid_expression;
mod l004_native_header;
mod l005_wrong_bucket_license;
mod l006_missing_citation;
mod l007_wrong_citation;
mod l008_missing_upstream_copyright;
mod l009_missing_source_path;
mod l010_missing_required_text;
mod l011_missing_license_text;
mod l012_map_mismatch;
mod l013_manifest_mismatch;
mod l014_dead_policy;
mod l015_denied;
mod l016_unknown_style;
mod l017_unreadable;
mod l018_symlink_outside;
mod l019_port_own_copyright;
mod l020_altered_verbatim;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use l020_altered_verbatim::hex;

use crate::expr::Expr;
use crate::finding::{Finding, Place, Severity};
use crate::policy::{At, Class, Globs, Policy};
use crate::tree::{Entry, Tree};
use crate::view::View;

/// What a rule looks at.
#[derive(Clone, Copy)]
pub enum Check {
    /// One file.
    File(fn(&View<'_>, &mut Sink)),
    /// The whole tree.
    Tree(fn(&Whole<'_>, &mut Sink)),
}

/// One rule.
pub struct Rule {
    /// Stable id.
    pub id: &'static str,
    /// Name.
    pub name: &'static str,
    /// What holds where the rule is kept.
    pub what: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to mend a finding.
    pub mend: &'static str,
    /// An example.
    pub example: &'static str,
    /// The code.
    pub check: Check,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.id, self.name)
    }
}

/// Every rule, in the order of their ids.
pub static RULES: &[&Rule] = &[
    &l001_missing_header::RULE,
    &l002_one_spdx_line::RULE,
    &l003_invalid_expression::RULE,
    &l004_native_header::RULE,
    &l005_wrong_bucket_license::RULE,
    &l006_missing_citation::RULE,
    &l007_wrong_citation::RULE,
    &l008_missing_upstream_copyright::RULE,
    &l009_missing_source_path::RULE,
    &l010_missing_required_text::RULE,
    &l011_missing_license_text::RULE,
    &l012_map_mismatch::RULE,
    &l013_manifest_mismatch::RULE,
    &l014_dead_policy::RULE,
    &l015_denied::RULE,
    &l016_unknown_style::RULE,
    &l017_unreadable::RULE,
    &l018_symlink_outside::RULE,
    &l019_port_own_copyright::RULE,
    &l020_altered_verbatim::RULE,
];

/// The rule with an id or name, in any case.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id.eq_ignore_ascii_case(id) || rule.name.eq_ignore_ascii_case(id))
}

/// Where a rule puts what it finds.
#[derive(Debug)]
pub struct Sink {
    rule: &'static Rule,
    findings: Vec<Finding>,
}

impl Sink {
    /// An empty one for a rule.
    #[must_use]
    pub fn new(rule: &'static Rule) -> Self {
        Self { rule, findings: Vec::new() }
    }

    /// What was found.
    #[must_use]
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    pub(crate) fn error(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.add(Severity::Error, place, message.into(), help.into());
    }

    pub(crate) fn warning(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.add(Severity::Warning, place, message.into(), help.into());
    }

    fn add(&mut self, severity: Severity, place: Place, message: String, help: String) {
        let Place { path, line, column, excerpt, length } = place;
        let Rule { id: rule, name, .. } = *self.rule;
        self.findings.push(Finding { path, line, column, rule, name, severity, message, help, excerpt, length });
    }
}

/// What the rules of the whole tree look at.
pub struct Whole<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The tree.
    pub tree: &'a dyn Tree,
    /// Its entries, sorted by path.
    pub entries: &'a [Entry],
    /// What is known of each entry, in the same order.
    pub facts: &'a [Fact],
}

/// What is kept of a file.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The valid expression that holds for it.
    pub expression: Option<Arc<Expr>>,
    /// Native or port.
    pub class: Class,
    /// Where the expression stands: line and column.
    pub at: (u32, u32),
}

impl Whole<'_> {
    /// Whether a file is in the tree.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok()
    }

    /// Which of the globs match some file.
    fn matched(&self, globs: &Globs) -> Vec<usize> {
        let mut all: Vec<usize> = self.entries.iter().flat_map(|entry| globs.matching(&entry.path)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A place in the policy.
    fn policy_place(&self, at: At) -> Place {
        let line = self.policy.source.line(at.line);
        let length = line.chars().count().saturating_sub(at.column as usize - 1);
        Place::at(self.policy.name(), at.line, at.column, line, length)
    }

    /// Every licence and exception in any expression, and where it is used first.
    #[must_use]
    pub fn ids(&self) -> BTreeMap<String, Place> {
        let mut ids = BTreeMap::new();
        for (entry, fact) in self.entries.iter().zip(self.facts) {
            for id in fact.expression.iter().flat_map(|expression| expression.ids()) {
                if !ids.contains_key(id) {
                    let mut place = Place::whole(&entry.path);
                    (place.line, place.column) = fact.at;
                    ids.insert(id.clone(), place);
                }
            }
        }
        let declared = self.policy.buckets.iter().map(|bucket| &bucket.expression);
        for expression in declared.chain([&self.policy.native.expression]) {
            for id in expression.ids() {
                ids.entry(id.clone()).or_insert_with(|| Place::whole(self.policy.name()));
            }
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_in_order_and_everything_is_explained() {
        for (rule, number) in RULES.iter().zip(1..) {
            assert_eq!(rule.id, format!("L{number:03}"));
            assert!(rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.name);
            for text in [rule.what, rule.why, rule.mend, rule.example] {
                assert!(text.len() > 20, "{}", rule.id);
            }
        }
        assert_eq!(RULES.len(), 20);
        assert_eq!(find("l006").map(|rule| rule.name), Some("missing-citation"));
        assert_eq!(find("missing-citation").map(|rule| rule.id), Some("L006"));
        assert!(find("L021").is_none());
    }
}
