// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The self-test: text in, rule ids out, exactly.
//!
//! Two tables are run. The built-in one has, for every rule, a case that trips this rule alone and one next to it that
//! is clean; it holds policies and trees of its own. The policy's `[[case]]` rows say what this policy makes of a file.
//! A rule without a case is a failure: a rule that nobody has seen fail may be one that cannot.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::lint::{Scope, lint};
use crate::policy::Policy;
use crate::rules::{Check, RULES, Rule, Sink};
use crate::template;
use crate::tree::{Entry, Kind, Memory};
use crate::view::{Scratch, View};

/// The built-in table.
const TABLE: &str = include_str!("selftest_table.toml");

/// A case that came out otherwise, or a rule without a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Case or rule.
    pub name: String,
    /// What is wrong with it.
    pub message: String,
}

/// What the self-test found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cases that were run.
    pub cases: usize,
    /// What failed.
    pub failures: Vec<Failure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The policy that cases begin with.
    base: String,
    /// Words that stand for texts: `@port@`.
    snippets: BTreeMap<String, String>,
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The rule that the case is about.
    rule: String,
    /// Ids, exactly; none for the case next to it.
    expect: Vec<String>,
    /// More policy.
    #[serde(default)]
    policy: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Files by their bytes in hexadecimal digits.
    #[serde(default)]
    bytes: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    locked: Vec<String>,
    /// Licences whose texts are there and recorded.
    #[serde(default = "usual")]
    texts: Vec<String>,
    /// Digests that are recorded otherwise.
    #[serde(default)]
    recorded: BTreeMap<String, String>,
}

fn usual() -> Vec<String> {
    ["Apache-2.0", "MIT"].map(str::to_owned).to_vec()
}

/// Runs the built-in table with `rules`, and the policy's own rows if there is a policy.
#[must_use]
pub fn run(policy: Option<&Policy>, rules: &[&'static Rule]) -> Outcome {
    let mut outcome = Outcome::default();
    let table: Table = match toml::from_str(TABLE) {
        Ok(table) => table,
        Err(error) => {
            outcome.failures.push(Failure { name: "the built-in table".into(), message: error.to_string() });
            return outcome;
        }
    };
    run_cases(&table, &mut outcome, rules, |_| true);
    for rule in RULES {
        let about = || table.cases.iter().filter(|case| case.rule == rule.id);
        if !about().any(|case| !case.expect.is_empty() && case.expect.iter().all(|id| id == rule.id)) {
            let message = "no case trips this rule alone".to_owned();
            outcome.failures.push(Failure { name: rule.id.to_owned(), message });
        }
        if !about().any(|case| case.expect.is_empty()) {
            let message = "no case next to it is clean".to_owned();
            outcome.failures.push(Failure { name: rule.id.to_owned(), message });
        }
    }
    for case in policy.iter().flat_map(|policy| policy.cases.iter().map(move |case| (policy, case))) {
        let (policy, case) = case;
        outcome.cases += 1;
        compare(&mut outcome, &case.name, &case.expect, &own(policy, &case.path, &case.text, rules));
    }
    outcome
}

/// Runs the built-in cases that `chosen` picks.
fn run_cases(table: &Table, outcome: &mut Outcome, rules: &[&'static Rule], chosen: impl Fn(&Case) -> bool) {
    for case in table.cases.iter().filter(|case| chosen(case)) {
        outcome.cases += 1;
        match found(table, case, rules) {
            Ok(found) => compare(outcome, &case.name, &case.expect, &found),
            Err(message) => outcome.failures.push(Failure { name: case.name.clone(), message }),
        }
    }
}

fn compare(outcome: &mut Outcome, name: &str, expect: &[String], found: &[String]) {
    let ids = |list: &[String]| {
        let mut ids: Vec<String> =
            list.iter().map(|text| text.split(' ').next().unwrap_or_default().to_owned()).collect();
        ids.sort();
        ids
    };
    if ids(expect) != ids(found) {
        let message = format!("expected {:?}, found {found:#?}", ids(expect));
        outcome.failures.push(Failure { name: name.to_owned(), message });
    }
}

/// What the rules that look at one file say of a text at a path.
fn own(policy: &Policy, path: &str, text: &str, rules: &[&'static Rule]) -> Vec<String> {
    let mut tree = Memory::default();
    tree.file(path, text);
    let entry = Entry { path: path.to_owned(), kind: Kind::File };
    let none = std::collections::HashSet::new();
    let view = View::new(policy, &tree, &entry, &mut Scratch::new(&none));
    let mut found = Vec::new();
    for rule in rules {
        if let Check::File(check) = rule.check {
            let mut sink = Sink::new(rule);
            check(&view, &mut sink);
            found.extend(
                sink.into_findings().into_iter().map(|finding| format!("{} {}", finding.rule, finding.message)),
            );
        }
    }
    found
}

/// What a run says of a built-in case.
fn found(table: &Table, case: &Case, rules: &[&'static Rule]) -> Result<Vec<String>, String> {
    let fill = |text: &str| {
        let mut text = text.to_owned();
        // Snippets may use snippets.
        for _ in 0..3 {
            for (name, snippet) in &table.snippets {
                text = text.replace(&format!("@{name}@"), snippet);
            }
        }
        text
    };
    let mut tree = Memory::default();
    let mut policy = fill(&table.base);
    policy.push_str("[texts]\n");
    for id in &case.texts {
        let path = format!("licenses/{id}.txt");
        let text = case.files.get(&path).map(|text| fill(text)).or_else(|| template::known(id).map(str::to_owned));
        let text = text.ok_or_else(|| format!("no text is known for {id}"))?;
        let digest = crate::rules::hex(text.as_bytes());
        let digest = case.recorded.get(&path).unwrap_or(&digest);
        policy.push_str(&format!("\"{path}\" = \"{digest}\"\n"));
        tree.file(&path, text);
    }
    policy.push_str(&fill(&case.policy));
    for (path, text) in &case.files {
        tree.file(path, fill(text));
    }
    for (path, digits) in &case.bytes {
        let bytes = (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16));
        tree.file(path, bytes.collect::<Result<Vec<u8>, _>>().map_err(|error| error.to_string())?);
    }
    for (path, target) in &case.links {
        tree.link(path, target);
    }
    for path in &case.locked {
        tree.locked(path);
    }
    let mut policy = Policy::parse("license.toml", &policy).map_err(|error| error.to_string())?;
    let report = lint(&mut policy, &tree, rules, &Scope::All).map_err(|error| error.to_string())?;
    Ok(report.findings.iter().map(|f| format!("{} {}:{}:{} {}", f.rule, f.path, f.line, f.column, f.message)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_holds() {
        let outcome = run(None, RULES);
        let text: Vec<String> = outcome.failures.iter().map(|f| format!("{}: {}", f.name, f.message)).collect();
        assert!(text.is_empty(), "{}", text.join("\n"));
        assert!(outcome.cases >= 2 * RULES.len());
    }

    #[test]
    fn a_rule_taken_out_turns_the_self_test_red() {
        let table: Table = toml::from_str(TABLE).unwrap();
        for rule in RULES {
            let rest: Vec<&'static Rule> = RULES.iter().copied().filter(|other| other.id != rule.id).collect();
            let mut outcome = Outcome::default();
            // The rule's own cases suffice, and are fewer.
            run_cases(&table, &mut outcome, &rest, |case| case.rule == rule.id);
            assert!(!outcome.failures.is_empty(), "{} is not missed", rule.id);
        }
    }

    #[test]
    fn a_row_of_the_policy_that_is_wrong_is_a_failure() {
        let text = "schema_version = 1\nallow = [\"MIT\"]\n[native]\nexpression = \"MIT\"\ncopyright = \"Copyright 2026 Us\"\n[[case]]\nname = \"bare\"\npath = \"a.rs\"\ntext = \"fn f() {}\"\nexpect = []\n";
        let policy = Policy::parse("license.toml", text).unwrap();
        let outcome = run(Some(&policy), RULES);
        assert_eq!(outcome.failures.len(), 1);
        assert!(outcome.failures[0].message.contains("L001"), "{:?}", outcome.failures);
        let right = text.replace("expect = []", "expect = [\"L001\"]");
        assert!(run(Some(&Policy::parse("license.toml", &right).unwrap()), RULES).failures.is_empty());
    }
}
