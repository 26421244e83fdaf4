// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is written, in every format.

use opweave_license::format;
use opweave_license::lint::{Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::{RULES, find};

use crate::lab::{POLICY, tree};

fn report() -> opweave_license::lint::Report {
    let mut policy = Policy::parse("license.toml", POLICY).unwrap();
    let wide = "// caf\u{e9} \u{6f22}\n// SPDX-License-Identifier: MIT/ISC\n// Copyright 2026 Us\n";
    let manifest =
        "# SPDX-License-Identifier: MIT\n# Copyright 2026 Us\n[package]\nname = \"x\"\nlicense = \"MIT/MIT\"\n";
    let tree = tree(&[
        ("Cargo.toml", manifest.as_bytes()),
        ("LICENSE", b"x"),
        ("src/a b%.rs", wide.as_bytes()),
        ("src/c.rs", b"/* SPDX-License-Identifier: ISC\n * Copyright 2026 Us */\n"),
        ("src/d.rs", b"fn main() {}\n"),
        ("licenses/MIT.txt", opweave_license::template::known("MIT").unwrap().as_bytes()),
    ]);
    lint(&mut policy, &tree, RULES, &Scope::All).unwrap()
}

#[test]
fn human() {
    insta::assert_snapshot!(format::human(&report().findings, false));
}

#[test]
fn github() {
    insta::assert_snapshot!(format::github(&report().findings));
}

#[test]
fn json() {
    let report = format::json(&report(), "license.toml");
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}

#[test]
fn sarif() {
    let sarif = format::sarif(&report().findings, Some("file:///repository/"));
    // The rules' texts are shown by the explanation's snapshot.
    let mut short = sarif.clone();
    short["runs"][0]["tool"]["driver"]["rules"] = serde_json::json!(["..."]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&short).unwrap());
    // What the standard demands of every result and rule.
    assert_eq!((sarif["version"].as_str(), sarif["runs"].as_array().map(Vec::len)), (Some("2.1.0"), Some(1)));
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), RULES.len());
    for result in sarif["runs"][0]["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap();
        assert_eq!(rules[usize::try_from(index).unwrap()]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let (region, uri) = (&place["region"], place["artifactLocation"]["uri"].as_str().unwrap());
        assert!(region["startLine"].as_u64() >= Some(1) && region["startColumn"].as_u64() >= Some(1));
        assert!(region["endColumn"].is_null() || region["endColumn"].as_u64() > region["startColumn"].as_u64());
        assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
    }
}

#[test]
fn explanation() {
    insta::assert_snapshot!(format::explain(find("L006").unwrap()));
}
