// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use crate::run::{command, finish, opweave, reviewed};

#[test]
fn the_catalogue_lists_every_row_and_a_reason_for_each_that_is_unavailable() {
    let json: serde_json::Value = serde_json::from_str(&opweave(&["catalog", "--json"]).out).unwrap();
    assert_eq!(json["schema_version"], 1);
    let rows = json["implementations"].as_array().unwrap();
    assert!(rows.iter().any(|r| r["name"] == "cpu.reference.rms_norm"));
    for row in rows {
        assert_eq!(row["available"].as_bool().unwrap(), row["reason"].is_null(), "{row}");
    }
    let operations = json["operations"].as_array().unwrap();
    for row in rows {
        assert!(operations.iter().any(|o| o["operation"] == row["operation"]), "{row}");
    }
}

#[test]
fn one_operation_can_be_asked_for_and_an_unknown_one_is_a_usage_error() {
    let ran = opweave(&["catalog", "layer_norm"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("layer_norm") && !ran.out.contains("rms_norm"), "{}", ran.out);
    let ran = opweave(&["catalog", "rms_nrom"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("did you mean `rms_norm`?"), "{}", ran.err);
}

#[test]
fn the_table_of_one_operation_reads_well() {
    // The snapshot is of a host that has every instruction set; on others rows say what is missing.
    let devices = opweave(&["devices"]).out;
    if !["+avx512dq+", "+avx512vl+", "+avx512vnni+"].iter().all(|feature| devices.contains(feature)) {
        let out = opweave(&["catalog", "rms_norm"]).out;
        assert!(out.contains("cpu.native.rms_norm.avx512") && out.contains("avx512vnni; the device has"), "{out}");
        return;
    }
    insta::assert_snapshot!(reviewed(&opweave(&["catalog", "rms_norm"]).out));
}

#[test]
fn images_that_cannot_be_used_are_the_answer_of_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let line = |index: Option<&str>| {
        if let Some(text) = index {
            std::fs::write(folder.path().join("index.json"), text).unwrap();
        }
        let ran = finish(command(&["catalog", "rms_norm"]).env("OPWEAVE_KERNELS", folder.path()));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.lines().find(|line| line.contains("cuda.native.rms_norm ")).unwrap().to_owned()
    };
    let none = line(None);
    assert!(
        none.contains("the image of `rms_norm` cannot be used") && none.contains("OPWEAVE_KERNELS must name"),
        "{none}"
    );
    let later = line(Some(r#"{"schema_version": 9, "images": []}"#));
    assert!(later.contains("schema_version 9, wanted 1"), "{later}");
    let other = line(Some(
        r#"{"schema_version": 1, "images": [{"stem": "rms_norm", "file": "a.fatbin", "bytes": 1, "sha256": "0", "source_hash": "1",
            "flags": [], "compiler": "13", "targets": ["sm_90a"], "kernels": []}]}"#,
    ));
    assert!(other.contains("built from sources 1"), "{other}");
}
