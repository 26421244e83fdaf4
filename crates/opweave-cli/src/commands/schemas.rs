// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The schemas of what `--json` writes are committed, and are those of the types.

use std::path::PathBuf;

use opweave_bench::compare::Comparison;

use super::catalog::CatalogJson;
use super::devices::DevicesJson;
use super::explain::ExplainJson;
use super::history::HistoryJson;

#[test]
fn the_schemas_of_json_output_are_committed() {
    let schemas = [
        ("catalog", schemars::schema_for!(CatalogJson)),
        ("devices", schemars::schema_for!(DevicesJson)),
        ("explain", schemars::schema_for!(ExplainJson)),
        ("comparison", schemars::schema_for!(Comparison)),
        ("history", schemars::schema_for!(HistoryJson)),
        ("suite-run", schemars::schema_for!(opweave_suite::record::Run)),
        ("suite-baseline", schemars::schema_for!(opweave_suite::baseline::Baseline)),
        ("suite-judgement", schemars::schema_for!(opweave_suite::baseline::Judgement)),
        ("license-report", schemars::schema_for!(opweave_license::format::JsonReport)),
    ];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let mut stale = Vec::new();
    for (name, schema) in schemas {
        let path = folder.join(format!("{name}.schema.json"));
        let now = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("OPWEAVE_UPDATE_SCHEMAS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != now {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ from the types: run this test once with OPWEAVE_UPDATE_SCHEMAS=1 and review the diff"
    );
}
