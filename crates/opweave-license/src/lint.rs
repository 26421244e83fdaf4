// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A run: every file looked at, every rule asked, findings sorted.

use std::collections::BTreeSet;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::finding::{Finding, Severity};
use crate::policy::{Policy, PolicyError};
use crate::rules::{Check, Fact, Rule, Sink, Whole};
use crate::tree::{Entry, Tree};
use crate::view::{Scratch, View, sidecars};

/// Entries that a worker takes at once.
const CHUNK: usize = 64;

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// The policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The tree cannot be listed.
    #[error("list the files: {0}")]
    Tree(#[from] io::Error),
}

/// What is reported.
#[derive(Clone, Debug, Default)]
pub enum Scope {
    /// Everything.
    #[default]
    All,
    /// Findings in these files and folders.
    Paths(Vec<String>),
    /// Findings in these files, and those of the rules that look at the whole tree: a change here can make a map or a
    /// manifest wrong that did not change.
    Changed(BTreeSet<String>),
}

/// The outcome.
#[derive(Clone, Debug)]
pub struct Report {
    /// Sorted findings.
    pub findings: Vec<Finding>,
    /// How many files and links were looked at.
    pub files: usize,
    /// The expression of each file that has a valid one, if it was asked for.
    pub expressions: Vec<(String, String)>,
}

impl Report {
    /// Whether nothing must be mended.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Warning)
    }
}

/// Lints a tree.
///
/// # Errors
/// If the tree cannot be listed or contradicts the policy.
pub fn lint(policy: &mut Policy, tree: &dyn Tree, rules: &[&'static Rule], scope: &Scope) -> Result<Report, LintError> {
    let mut entries = tree.entries()?;
    entries.retain(|entry| !policy.ignore.is_match(&entry.path));
    policy.attach(tree, &entries)?;
    let policy = &*policy;
    let (facts, mut findings) = look(policy, tree, rules, &entries);
    let whole = Whole { policy, tree, entries: &entries, facts: &facts };
    for rule in rules {
        if let Check::Tree(check) = rule.check {
            let mut sink = Sink::new(rule);
            check(&whole, &mut sink);
            findings.extend(sink.into_findings());
        }
    }
    findings.retain(|finding| in_scope(scope, finding));
    findings.sort();
    findings.dedup();
    let expressions = entries
        .iter()
        .zip(&facts)
        .filter_map(|(entry, fact)| Some((entry.path.clone(), fact.expression.as_ref()?.to_string())))
        .collect();
    Ok(Report { findings, files: entries.len(), expressions })
}

fn in_scope(scope: &Scope, finding: &Finding) -> bool {
    match scope {
        Scope::All => true,
        Scope::Paths(paths) => paths.iter().any(|path| {
            let below = finding.path.strip_prefix(path.as_str());
            path.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }),
        Scope::Changed(changed) => {
            let whole = crate::rules::find(finding.rule).is_some_and(|rule| matches!(rule.check, Check::Tree(_)));
            // A sidecar's finding is about the file beside it.
            whole || changed.contains(&finding.path)
        }
    }
}

/// Looks at every entry on all cores.
fn look(policy: &Policy, tree: &dyn Tree, rules: &[&'static Rule], entries: &[Entry]) -> (Vec<Fact>, Vec<Finding>) {
    let next = AtomicUsize::new(0);
    let parts = Mutex::new(Vec::new());
    let sidecars = sidecars(entries);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(entries.len() / CHUNK + 1);
    let work = || {
        let mut scratch = Scratch::new(&sidecars);
        loop {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            let Some(chunk) = entries.get(from..entries.len().min(from + CHUNK)).filter(|chunk| !chunk.is_empty())
            else {
                break;
            };
            let mut facts = Vec::with_capacity(chunk.len());
            let mut findings = Vec::new();
            for entry in chunk {
                let view = View::new(policy, tree, entry, &mut scratch);
                facts.push(fact(&view));
                for rule in rules {
                    if let Check::File(check) = rule.check {
                        let mut sink = Sink::new(rule);
                        check(&view, &mut sink);
                        findings.extend(sink.into_findings());
                    }
                }
            }
            parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((from, facts, findings));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    parts.sort_by_key(|(from, ..)| *from);
    let mut facts = Vec::with_capacity(entries.len());
    let mut findings = Vec::new();
    for (_, some, found) in parts {
        facts.extend(some);
        findings.extend(found);
    }
    (facts, findings)
}

fn fact(view: &View<'_>) -> Fact {
    let at = view
        .tags
        .first()
        .filter(|tag| tag.place.path == view.path)
        .map_or((1, 1), |tag| (tag.place.line, tag.place.column));
    Fact { expression: view.valid().cloned(), class: view.class.clone(), at }
}
