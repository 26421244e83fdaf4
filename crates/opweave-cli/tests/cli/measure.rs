// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `numerics` and `bench` before anything runs: help, lists, refusals.

use crate::run::opweave;

#[test]
fn help_lists_the_suites_arguments_without_a_device() {
    for command in ["numerics", "bench"] {
        let ran = opweave(&[command, "--operation", "rms_norm", "--help"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("Arguments of the suites") && ran.out.contains("--hidden-size"), "{}", ran.out);
    }
}

#[test]
fn names_that_nothing_bears_are_usage_errors_with_the_nearest_spelling() {
    let cases: &[(&[&str], &str)] = &[
        (&["--operation", "rms_nrom"], "did you mean `rms_norm`?"),
        (&["--operation", "rms_norm", "--label", "t16_h4096_bf17"], "did you mean `t"),
        (&["--implementation", "cpu.natvie"], "cpu.natvie"),
        (&["--device", "gpu:0"], "gpu"),
        (&["--mode", "lazy"], "eager, graph"),
        (&["--tier", "huge"], "smoke, default, full"),
        (&["--grade", "odd"], "normal"),
        (&["--grade", "real", "--tensors", "/nowhere.safetensors"], "/nowhere.safetensors"),
        (&["--hidden-size", "many"], "many"),
        (&["--threads", "100000"], "expected 1 to 1024"),
    ];
    for command in ["numerics", "bench"] {
        for (options, expected) in cases {
            let args = [&[command, "--output", "/dev/null/never.json"], *options].concat();
            let ran = opweave(&args);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
            assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn a_protocol_that_cannot_be_run_is_refused() {
    let cases: &[(&[&str], &str)] = &[
        (&["--iterations", "5", "--repeat-ms", "10"], "--repeat-ms"),
        (&["--rounds", "0"], "1 to 1000"),
        (&["--repeat-ms", "0"], "above 0"),
        (&["--cooldown", "-1"], "cooldown"),
        (&["--warmup-ms", "NaN"], "--warmup-ms"),
        (&["--timer", "kernel"], "`event`"),
        (&["--timer", "cupti"], "known are kernel"),
        (&["--mode", "graph", "--timer", "wall"], "`graph`"),
        (&["--cache", "warm"], "cold, hot"),
    ];
    for (options, expected) in cases {
        let args = [&["bench", "--label", "t1_h4096_bf16", "--output", "/dev/null/never.json"], *options].concat();
        let ran = opweave(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_device_that_is_not_there_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let output = path.to_str().unwrap();
    let ran = opweave(&["numerics", "--device", "cuda:0", "--tier", "smoke", "--output", output]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("not_run"), "{}", ran.out);
    let ran = opweave(&["bench", "--device", "cuda:0", "--tier", "smoke", "--output", output]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("cuda"), "{}", ran.err);
}
