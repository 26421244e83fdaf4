// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::PathBuf;

use super::sample::{KIND, measured, report, row, series_of};
use super::*;
use crate::compare::Verdict;
use crate::measurement::{Cache, Kind, Metric};

fn full() -> BenchReport {
    let mut ok = row("rms_norm/t16_h4096_bf16/seed5309", series_of(&[20.0, 21.0, 20.5, 20.1, 20.4]));
    ok.series.push(Series {
        measurement: measured(Kind { cache: Cache::Hot, ..KIND }, &[5.0; 5]),
        cache_method: "left alone".into(),
        cache_resident: true,
        ..series_of(&[5.0; 5])
    });
    ok.series.push(Series {
        measurement: measured(Kind { metric: Metric::Enqueue, ..KIND }, &[19.0; 5]),
        ..series_of(&[5.0; 5])
    });
    ok.against.push(Against {
        implementation: "cpu.reference.rms_norm".into(),
        series: KIND.to_string(),
        ratio: 12.25,
        round_ratios: vec![12.0, 12.25, 12.5],
        paired: Some(crate::compare::Paired { ratio: 12.25, low: 12.0, high: 12.5, turns: 24 }),
        threshold: 0.01,
        verdict: Verdict::Faster,
    });
    let mut failed = row("rms_norm/t1_h769_f16/seed5309", series_of(&[1.0]));
    failed.series.clear();
    failed.status = RowStatus::Fail;
    failed.validation = opweave_numerics::Verdict::Failed;
    failed.reason = Some("3 of 769 elements | differ".into());
    report(vec![ok, failed])
}

#[test]
fn a_report_survives_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/bench.json");
    write(&full(), &path).unwrap();
    assert_eq!(read(&path).unwrap(), full());
    let names: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["bench.json"], "no temporary file stays");
}

#[test]
fn numbers_that_cannot_be_judged_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    let base = serde_json::to_value(full()).unwrap();
    let bad = |pointer: &str, value: serde_json::Value| {
        let mut edited = base.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        std::fs::write(&path, edited.to_string()).unwrap();
        read(&path).expect_err(pointer).to_string()
    };
    let value = "/rows/0/series/0/measurement/impl_us";
    for number in [serde_json::json!(0.0), serde_json::json!(-3), serde_json::json!("NaN"), serde_json::Value::Null] {
        bad(value, number);
    }
    assert!(bad(value, serde_json::json!(26.5)).contains("its samples give"), "an edited value stands out");
    assert!(bad(value, serde_json::json!(0.0)).contains("row rms_norm/t16_h4096_bf16/seed5309"));
    bad("/rows/0/series/0/measurement/round_us/1", serde_json::json!(1.0));
    bad("/rows/0/series/0/measurement/summary/median_us", serde_json::json!(0));
    bad("/rows/0/series/0/measurement/summary/median_interval_us/low_us", serde_json::json!(1));
    bad("/rows/0/series/0/measurement/summary/n", serde_json::json!(54));
    bad("/rows/0/against/0/ratio", serde_json::json!(0));
    bad("/rows/0/validation/verdict", serde_json::json!("failed"));
    bad("/rows/0/status", serde_json::json!("fail"));
    bad("/rows/1/status", serde_json::json!("ok"));
    bad("/rows/1", base["rows"][0].clone());
    assert!(bad("/schema_version", serde_json::json!(1)).contains("schema_version is 1"));
    let mut missing = base.clone();
    missing["rows"][0]["series"][0]["measurement"].as_object_mut().unwrap().remove("impl_us");
    std::fs::write(&path, missing.to_string()).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("impl_us"));
    std::fs::write(&path, "{}").unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("schema_version is missing"));
    std::fs::write(&path, base.to_string()).unwrap();
    assert!(read(&path).is_ok());
}

#[test]
fn the_schema_is_committed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/bench-report.schema.json");
    let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("OPWEAVE_UPDATE_SCHEMAS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
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
fn a_report_matches_the_schema() {
    // The names the schema requires are the names that are written, which is what a reader in another language needs.
    let required = |of: &serde_json::Value| -> Vec<String> {
        let mut names: Vec<String> =
            of["required"].as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let schema = schema();
    let written = serde_json::to_value(full()).unwrap();
    let row = written["rows"][0].as_object().unwrap();
    for name in required(&schema["$defs"]["Row"]) {
        assert!(row.contains_key(&name), "{name}");
    }
    for name in row.keys() {
        assert!(schema["$defs"]["Row"]["properties"].get(name).is_some(), "{name}");
    }
}

#[test]
fn the_table_and_the_page_read_well() {
    insta::assert_snapshot!("table", table(&full(), None));
    insta::assert_snapshot!("markdown", markdown(&full()));
}
