// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use crate::run::{command, finish, opweave, reviewed};

#[test]
fn usage_errors_name_the_value_and_what_is_legal() {
    let cases: &[(&[&str], &str)] = &[
        (&["explain", "rms_nrom"], "did you mean `rms_norm`?"),
        (&["explain", "rms_norm", "--device", "cuda:100"], "cuda:10.0"),
        (&["explain", "rms_norm", "--device", "cuda:90"], "cuda:9.0"),
        (&["explain", "rms_norm", "--mode", "lazy"], "eager or graph"),
        (&["explain", "rms_norm", "--problem", "hidden_sise=64", "dtype=bf16"], "did you mean `hidden_size`?"),
        (&["explain", "rms_norm", "--problem", "hidden_size=64", "dtype=i32"], "bf16"),
        (&["explain", "rms_norm", "--problem", "dtype=bf16"], "hidden_size"),
        (&["explain", "rms_norm", "--buckets", "token<=8"], "tokens"),
        (&["explain", "rms_norm", "--buckets", "tokens<=8,4"], "ascend"),
        (&["explain", "rms_norm", "--profile", "/nowhere.toml"], "/nowhere.toml"),
    ];
    for (args, expected) in cases {
        let ran = opweave(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
    }
    let ran = finish(command(&["explain", "rms_norm"]).env("OPWEAVE_OVERRIDE_RMS_NROM", "native"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("OPWEAVE_OVERRIDE_RMS_NORM"), "{}", ran.err);
}

#[test]
fn nothing_applies_on_a_device_without_a_solution() {
    let ran = opweave(&["explain", "rms_norm", "--device", "cuda:9.0", "--problem", "hidden_size=64 dtype=bf16"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("nothing applies"), "{}", ran.out);
}

#[test]
fn a_choice_is_explained_for_machines_that_are_not_here() {
    let explain = |device: &str| {
        let args = ["explain", "rms_norm", "--device", device, "--problem", "hidden_size=4096", "dtype=bf16"];
        let ran = opweave(&args);
        format!("exit {}\n{}", ran.code, reviewed(&ran.out))
    };
    insta::assert_snapshot!("with_avx2", explain("cpu:x86_64+avx2+f16c+fma"));
    insta::assert_snapshot!("without_avx2", explain("cpu:x86_64"));
    insta::assert_snapshot!("on_cuda", explain("cuda:9.0"));
}

#[test]
fn an_override_is_followed_or_the_reason_is_given() {
    let args = ["explain", "rms_norm", "--device", "cpu:x86_64+avx2+f16c+fma", "--problem", "hidden_size=64 dtype=f32"];
    let portable = "cpu.native.rms_norm.portable";
    let ran = finish(command(&args).env("OPWEAVE_OVERRIDE_RMS_NORM", portable));
    assert!(ran.out.contains(&format!("runs {portable}: override")), "{}", ran.out);
    // The environment beats the argument.
    let argument = [&args[..], &["--implementation", "reference"]].concat();
    let ran = finish(command(&argument).env("OPWEAVE_OVERRIDE_RMS_NORM", portable));
    assert!(ran.out.contains(&format!("runs {portable}: override")), "{}", ran.out);
    let ran = opweave(&argument);
    assert!(ran.out.contains("runs cpu.reference.rms_norm"), "{}", ran.out);
    let ran = finish(command(&args).env("OPWEAVE_OVERRIDE_RMS_NORM", "portabel"));
    assert_eq!(ran.code, 2, "{}", ran.out);
    let ran = finish(command(&args).env("OPWEAVE_OVERRIDE_RMS_NORM", " "));
    assert!(ran.out.contains("note: ") && ran.code == 0, "{}", ran.out);
}

#[test]
fn an_explanation_as_json_has_every_bucket_and_every_row() {
    let args = ["explain", "rms_norm", "--device", "cpu:x86_64,cuda:9.0", "--buckets", "tokens<=8,64", "--json"];
    let ran = opweave(&args);
    assert_eq!(ran.code, 1, "nothing applies to one of the devices: {}", ran.err);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let all = json["explanations"].as_array().unwrap();
    assert_eq!((json["schema_version"].as_u64(), all.len()), (Some(1), 6));
    assert_eq!(all[0]["implementation"], "cpu.native.rms_norm.portable");
    assert!(all[3]["implementation"].is_null());
    assert!(all.iter().all(|e| e["considered"].as_array().unwrap().len() >= 5));
}
