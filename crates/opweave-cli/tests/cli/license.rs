// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave license`: exit codes, formats, the fix, the proposal.

use std::fs;
use std::path::Path;

use crate::run::{Ran, command, finish, opweave};

const POLICY: &str = "# SPDX-License-Identifier: MIT\n# Copyright 2026 Us\nschema_version = 1\nallow = [\"MIT\"]\n[native]\nexpression = \"MIT\"\ncopyright = \"Copyright 2026 Us\"\n";

fn license(root: &Path, args: &[&str]) -> Ran {
    finish(command(&["license"]).args(args).current_dir(root))
}

/// A folder with a policy, a licence text of no digest, and a file without a header.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("license.toml"), POLICY).unwrap();
    fs::write(folder.path().join("src/a.rs"), "fn f() {}\n").unwrap();
    folder
}

#[test]
fn exit_codes_and_formats() {
    let folder = folder();
    let root = folder.path();
    let ran = license(root, &["src"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("error[L001 missing-header]") && ran.out.contains("--> src/a.rs:1:1"), "{}", ran.out);
    // From a folder below, paths are the caller's.
    assert_eq!(license(&root.join("src"), &["a.rs"]).out, ran.out);
    let json: serde_json::Value = serde_json::from_str(&license(root, &["--format", "json", "src"]).out).unwrap();
    assert_eq!((json["schema_version"].as_u64(), json["clean"].as_bool()), (Some(1), Some(false)));
    assert_eq!(json["findings"][0]["rule"], "L001");
    let sarif: serde_json::Value = serde_json::from_str(&license(root, &["--format", "sarif", "src"]).out).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "L001");
    assert!(license(root, &["--format", "github", "src"]).out.starts_with("::error file=src/a.rs,line=1,col=1"));
    assert_eq!(license(root, &["license.toml"]).code, 1, "the text of MIT is missing");
}

#[test]
fn what_is_wrong_with_the_call_or_the_policy_is_exit_2() {
    let folder = folder();
    let root = folder.path();
    for (args, wanted) in [
        (&["--explain", "L099"][..], "known are L001"),
        (&["--config", "absent.toml"], "absent.toml"),
        (&["gone.rs"], "no file or folder gone.rs"),
        (&["/"], "outside of the policy's folder"),
        (&["--changed", "HEAD"], "knows no revision"),
        (&["--format", "xml"], "possible values"),
        (&["init"], "--force replaces it"),
    ] {
        let ran = license(root, args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
    }
    for (from, to, wanted) in [
        ("allow", "alow", "license.toml:4:1"),
        ("\"MIT\"]", "\"Mit\"]", "the id is spelt MIT"),
        ("[native]", "ignore = [\"[\"]\n[native]", "legal is a path"),
    ] {
        fs::write(root.join("license.toml"), POLICY.replacen(from, to, 1)).unwrap();
        let ran = license(root, &[]);
        assert_eq!(ran.code, 2, "{to}");
        assert!(ran.err.contains(wanted) && ran.err.contains("license.toml"), "{}", ran.err);
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(license(empty.path(), &[]).err.contains("opweave license init"));
}

#[test]
fn a_fix_is_done_once_and_what_is_left_is_said() {
    let folder = folder();
    let root = folder.path();
    fs::write(root.join("src/b.c"), "/* Licensed under some terms. */\n").unwrap();
    let ran = license(root, &["--fix", "src"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("added the header to src/a.rs") && ran.err.contains("not fixed: src/b.c"), "{}", ran.err);
    let fixed = fs::read_to_string(root.join("src/a.rs")).unwrap();
    assert_eq!(fixed, "// SPDX-License-Identifier: MIT\n// Copyright 2026 Us\n\nfn f() {}\n");
    fs::remove_file(root.join("src/b.c")).unwrap();
    let ran = license(root, &["--fix", "src"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(root.join("src/a.rs")).unwrap(), fixed);
}

#[test]
fn every_rule_is_explained_and_the_rules_are_tested() {
    let explained = opweave(&["license", "--explain", "missing-citation"]);
    assert!(explained.out.starts_with("L006 missing-citation") && explained.out.contains("Mend"), "{}", explained.out);
    let empty = tempfile::tempdir().unwrap();
    let ran = license(empty.path(), &["--self-test"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("20 rules"), "{}", ran.out);
    let wrong = format!("{POLICY}[[case]]\nname = \"bare\"\npath = \"a.rs\"\ntext = \"x\"\nexpect = []\n");
    fs::write(empty.path().join("license.toml"), wrong).unwrap();
    let ran = license(empty.path(), &["--self-test"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("bare: expected []"), "{}", ran.out);
}

#[test]
fn five_steps_lead_from_nothing_to_green() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/a.rs"), "// SPDX-License-Identifier: MIT\n// Copyright 2026 Us\nfn f() {}\n").unwrap();
    fs::write(root.join("src/b.py"), "x = 1\n").unwrap();
    fs::write(root.join("data.json"), "{}\n").unwrap();
    let ran = license(root, &["init"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("need a decision"), "{}", ran.out);
    let proposed = fs::read_to_string(root.join("license.toml")).unwrap();
    assert!(proposed.contains("expression = \"MIT\"") && proposed.contains("HUMAN:"), "{proposed}");
    assert!(license(root, &[]).code == 1);
    license(root, &["--fix"]);
    // What is left is the licence's text.
    let json: serde_json::Value = serde_json::from_str(&license(root, &["--format", "json"]).out).unwrap();
    let rules: Vec<&str> = json["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["L011"]);
}
