// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::PathBuf;

use opweave_tensor::DType;

use super::*;
use crate::compare::{Computation, Expected, Tolerance, Values, compare};
use crate::config::{Config, Tier};
use crate::host::{HostTensor, Layout};
use crate::input::Grade;
use crate::verdict::Verdict;

fn case(label: &str, verdict: Verdict) -> CaseReport {
    CaseReport {
        id: format!("rms_norm/{label}/seed5309"),
        label: label.to_owned(),
        tier: Tier::Smoke,
        grade: Grade::Normal,
        parameters: [("tokens".to_owned(), "2".to_owned())].into(),
        implementation: Some(Implementation {
            name: "cpu.native.rms_norm.portable".into(),
            solution: "cpu.native".into(),
            variant: Some("portable".into()),
            binding: "rust".into(),
            deterministic: true,
            batch_invariant: true,
            launch: [("workspace".to_owned(), "0".to_owned())].into(),
        }),
        verdict,
        ranks: Vec::new(),
        findings: Vec::new(),
        leaves: Vec::new(),
        inputs: Vec::new(),
        preparation_us: 12.5.into(),
        elapsed_ms: 1.25.into(),
        reproduce: Config::default().command_for("rms_norm", label, None),
    }
}

/// A report with a pass, a failure with NaN among its numbers, and a case that does not apply.
fn sample() -> Report {
    let mut report = Report::new(&Config::default(), Environment::default());
    report.operations.push(OperationReport {
        operation: "rms_norm".into(),
        counts: Default::default(),
        selection: vec![Selection {
            problem: "hidden_size=4 dtype=bf16".into(),
            selected: Some("cpu.native.rms_norm.portable".into()),
            considered: vec![
                Considered {
                    name: "cpu.native.rms_norm.avx2".into(),
                    verdict: ConsideredVerdict::Rejected { reason: "device lacks avx2 | fma".into() },
                },
                Considered {
                    name: "cpu.native.rms_norm.portable".into(),
                    verdict: ConsideredVerdict::Eligible { rank: 100 },
                },
            ],
        }],
        cases: Vec::new(),
    });
    report.push_case(case("t2_h4_bf16", Verdict::Passed));
    report.push_case(case("t2_h5_bf16", Verdict::NotApplicable { reason: "hidden_size % 4 == 0".into() }));
    let numbers = vec![1.0, f64::NAN, f64::INFINITY, -2.0];
    let mut actual = HostTensor::zeros(Layout::contiguous(DType::BF16, &[2, 2])).unwrap();
    actual.set_values(&[1.0, 0.5, f64::INFINITY, f64::NAN]).unwrap();
    let computation = Computation::Rounded { roundings: 1, accumulation: DType::F32, length: 4 };
    let tolerance = Tolerance::of(computation, DType::BF16);
    let leaf = compare(&actual, &Expected::whole("out", Values::Floats(numbers)), &tolerance).unwrap();
    let mut failed = case("t2_h2_bf16", Verdict::Failed);
    failed.findings =
        leaf.failures.iter().map(|text| Finding { kind: FindingKind::Values, text: text.clone() }).collect();
    failed.leaves.push(leaf);
    report.push_case(failed);
    report.conclude(false);
    report
}

#[test]
fn the_schema_is_committed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/numerics-report.schema.json");
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
fn reports_obey_the_schema_and_the_schema_refuses_others() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let value = serde_json::to_value(sample()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let damaged = |change: fn(&mut serde_json::Value)| {
        let mut value = value.clone();
        change(&mut value);
        validator.is_valid(&value)
    };
    assert!(!damaged(|v| v["status"] = "fine".into()));
    assert!(!damaged(|v| v["operations"][0]["cases"][0]["verdict"] = "skipped".into()));
    assert!(!damaged(|v| v["surprise"] = 1.into()));
    assert!(!damaged(|v| {
        v.as_object_mut().unwrap().remove("schema_version");
    }));
    assert!(!damaged(|v| v["operations"][0]["cases"][2]["leaves"][0]["max_abs"] = "infinite".into()));
}

#[test]
fn a_report_survives_its_file_with_non_finite_numbers_as_strings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/report.json");
    let report = sample();
    let mut file = ReportFile::new(Some(path.clone()));
    file.update(&report).unwrap();
    assert!(!path.with_extension("md").exists());
    file.finish(&report).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(r#""actual": "NaN""#) && text.contains(r#""expected": "NaN""#), "{text}");
    let back = read(&path).unwrap();
    // NaN is unequal to itself; the text is not.
    assert_eq!(serde_json::to_string(&back).unwrap(), serde_json::to_string(&report).unwrap());
    assert!(path.with_extension("md").exists());
    let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporary file stays behind");
}

#[test]
fn a_running_report_is_whole_and_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let mut report = sample();
    report.status = Status::Incomplete;
    ReportFile::new(Some(path.clone())).update(&report).unwrap();
    assert_eq!(read(&path).unwrap().status, Status::Incomplete);
    report.conclude(true);
    assert_eq!((report.status, report.status.exit_code()), (Status::Interrupted, 130));
}

#[test]
fn a_failed_write_leaves_the_old_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    write_atomically(&path, b"old").unwrap();
    // A folder in the way of the rename: the write fails after the temporary file is there.
    let blocked = folder.path().join("blocked.json");
    std::fs::create_dir(&blocked).unwrap();
    assert!(matches!(write_atomically(&blocked, b"new"), Err(ReportError::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "the temporary file is gone");
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let message = |text: &str| {
        std::fs::write(&path, text).unwrap();
        read(&path).unwrap_err().to_string()
    };
    assert!(message("{}").contains("schema_version is missing"));
    assert!(message(r#"{"schema_version": 2}"#).contains("schema_version is 2"));
    assert!(message("nonsense").contains("expected"));
    assert!(message(r#"{"schema_version": 1}"#).contains("missing field"));
    assert!(matches!(read(&folder.path().join("none.json")), Err(ReportError::Io { .. })));
}

#[test]
fn nothing_that_passed_is_not_success() {
    let mut report = Report::new(&Config::default(), Environment::default());
    report.conclude(false);
    assert_eq!((report.status, report.status.exit_code()), (Status::Failed, 1));
}

#[test]
fn markdown_tells_what_went_wrong_first() {
    let mut report = sample();
    report.environment.host.system = "linux x86_64".into();
    insta::assert_snapshot!(markdown(&report));
}
