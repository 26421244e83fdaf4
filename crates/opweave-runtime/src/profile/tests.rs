// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The committed schema of the measured profile is the types' own.

use std::path::PathBuf;

use super::Profile;

fn schema() -> serde_json::Value {
    schemars::schema_for!(Profile).to_value()
}

#[test]
fn the_schema_of_the_profile_is_committed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/profile.schema.json");
    let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("OPWEAVE_UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == now,
        "{} differs from the types: run this test once with OPWEAVE_UPDATE_SCHEMAS=1 and review the diff",
        path.display()
    );
}

#[test]
fn the_schema_requires_the_version_and_refuses_other_fields() {
    let schema = schema();
    assert_eq!(schema["additionalProperties"], false);
    let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(|v| v.as_str()).collect();
    assert_eq!(required, ["schema_version", "digest"]);
    assert!(schema["properties"]["entry"].is_object(), "entries are called `entry` in the file");
}
