// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The program: what it prints, and how it ends.

#![expect(clippy::unwrap_used, reason = "tests and their helpers: what cannot be set up is a failed test")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod support;

use std::path::Path;
use std::process::{Command, Output};

use opweave_decode::checkpoint::Encoding;
use serde_json::Value;

fn decode(model: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_decode"));
    command.arg("--model").arg(model).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn text_goes_out_and_numbers_go_beside_it() {
    let at = tempfile::tempdir().unwrap();
    let model = at.path().join("tiny.gguf");
    std::fs::write(&model, support::files::gguf(Encoding::Q4_1, true).bytes()).unwrap();
    let common = ["--prompt", "The cloth grows é🦀", "--tokens", "12", "--threads", "2", "--ignore-end"];

    let plain = decode(&model, &[&common[..], &["--explain"]].concat());
    assert!(plain.status.success(), "{}", text(&plain.stderr));
    let beside = text(&plain.stderr);
    for wanted in ["runs cpu.native.linear_wna16", "prefill", "decode", "tokens/s", "attention", "MB a token"] {
        assert!(beside.contains(wanted), "{beside}");
    }

    let json = decode(&model, &[&common[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["tokens"].as_array().unwrap().len(), 12);
    assert_eq!(report["decode"]["tokens"], 11);
    assert_eq!(format!("{}\n", report["text"].as_str().unwrap()), text(&plain.stdout), "the same text, whole");
    assert!(report["kernels"].is_null());
    let attention = report["decode"]["parts"].as_array().unwrap().iter().find(|part| part["part"] == "attention");
    assert_eq!(attention.unwrap()["calls"], 33, "three layers, eleven tokens");

    let seeded = |seed| {
        let draw = ["--temperature", "1.5", "--top-k", "50", "--seed", seed];
        text(&decode(&model, &[&common[..], &draw].concat()).stdout)
    };
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
    let empty = decode(&model, &["--tokens", "3", "--ignore-end"]);
    assert!(empty.status.success(), "{}", text(&empty.stderr));
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let at = tempfile::tempdir().unwrap();
    let model = at.path().join("broken.gguf");
    std::fs::write(&model, b"GGUF\x03\0\0\0").unwrap();
    let broken = decode(&model, &[]);
    let said = text(&broken.stderr);
    assert_eq!(broken.status.code(), Some(1));
    assert!(
        said.starts_with("error: failed to load ") && said.contains("the number of tensors needs 8 bytes"),
        "{said}"
    );
    let unknown = decode(&model, &["--weights", "q3"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("possible values: stored, f32, f16, bf16"));
    std::fs::write(&model, support::files::gguf(Encoding::F16, true).bytes()).unwrap();
    let long = decode(&model, &["--prompt-tokens", "300", "--tokens", "1"]);
    assert!(text(&long.stderr).contains("left of the context"), "{}", text(&long.stderr));
}
