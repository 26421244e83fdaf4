// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::process::Stdio;

use crate::run::{command, finish, opweave};

#[test]
fn devices_lists_the_host_and_says_why_the_rest_is_absent() {
    let ran = opweave(&["devices"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("cpu"), "{}", ran.out);
    assert!(ran.out.lines().any(|l| l.starts_with("cuda  ") && l.contains(':')), "{}", ran.out);
    let json: serde_json::Value = serde_json::from_str(&opweave(&["devices", "--json"]).out).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["backends"][0]["kind"], "cpu");
    assert_eq!(json["backends"][0]["devices"][0]["id"], "cpu");
}

#[test]
fn colours_are_for_terminals() {
    let escape = '\x1b';
    assert!(!opweave(&["devices"]).out.contains(escape), "a pipe is no terminal");
    assert!(opweave(&["devices", "--color", "always"]).out.contains(escape));
    assert!(!finish(command(&["devices"]).env("NO_COLOR", "1")).out.contains(escape));
}

#[test]
fn a_wrong_argument_is_a_usage_error() {
    for args in [&["devices", "--jsno"][..], &["device"], &[], &["compare", "only-one.json"]] {
        let ran = opweave(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{args:?}");
    }
    let ran = opweave(&["device"]);
    assert!(ran.err.contains("devices"), "the nearest spelling: {}", ran.err);
    assert_eq!(opweave(&["--help"]).code, 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["devices", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
