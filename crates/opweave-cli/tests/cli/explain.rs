// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use crate::run::{command, finish, opweave};

#[test]
fn usage_errors_name_the_value_and_what_is_legal() {
    let cases: &[(&[&str], &str)] = &[
        (&["explain", "rms_nrom"], "did you mean `rms_norm`?"),
        (&["explain", "rms_norm", "--device", "cuda:100"], "cuda:10.0"),
        (&["explain", "rms_norm", "--device", "cuda:90"], "cuda:9.0"),
        (&["explain", "rms_norm", "--mode", "lazy"], "eager or graph"),
        (&["explain", "rms_norm", "--problem", "hidden_sise=64", "dtype=bf16"], "hidden_size"),
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
