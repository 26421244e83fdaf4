// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::{Path, PathBuf};

use opweave_bench::measurement::{Cache, Kind, Measurement, Metric, Scope, Timer};
use opweave_bench::protocol::{Counts, Protocol};
use opweave_bench::report::{BenchReport, CacheSizes, Row, RowStatus, RunStatus, SCHEMA_VERSION, Series, write};
use opweave_numerics::input::Grade;
use opweave_numerics::report::{DeviceEnvironment, Environment, Implementation};
use opweave_numerics::{Mode, Verdict};

use crate::run::{Ran, opweave};

/// A report with one case whose median is `us`, with 1 % of noise.
fn report(us: f64) -> BenchReport {
    let kind = Kind { timer: Timer::Wall, scope: Scope::KernelOnly, metric: Metric::Completion, cache: Cache::Hot };
    let round: Vec<f64> = (-5..=5).map(|i| us * (1.0 + 0.002 * f64::from(i))).collect();
    BenchReport {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        command: vec!["opweave".into(), "bench".into()],
        started_unix_s: 1_790_000_000,
        elapsed_s: 1.0,
        environment: Environment {
            device: DeviceEnvironment {
                id: "cpu".into(),
                name: "a processor".into(),
                clocks: "unknown".into(),
                ..DeviceEnvironment::default()
            },
            ..Environment::default()
        },
        caches: CacheSizes::default(),
        protocol: Protocol::default(),
        distributed: None,
        seed: 5309,
        generator: "counter-1".into(),
        ceilings: None,
        rows: vec![Row {
            case_id: "rms_norm/t16_h4096_bf16/seed5309".into(),
            operation: "rms_norm".into(),
            label: "t16_h4096_bf16".into(),
            problem: [("hidden_size".to_owned(), "4096".to_owned())].into(),
            grade: Grade::Normal,
            mode: Mode::Eager,
            implementation: Implementation {
                name: "cpu.native.rms_norm".into(),
                solution: "native".into(),
                variant: None,
                binding: "rust".into(),
                deterministic: true,
                batch_invariant: true,
                launch: Default::default(),
            },
            reference: false,
            validation: Verdict::Passed,
            status: RowStatus::Ok,
            reason: None,
            work: None,
            preparation_us: None,
            order: None,
            series: vec![Series {
                measurement: Measurement::new(kind, vec![round; 5], None).unwrap(),
                counts: Counts { estimate_us: us, warmup: 1, samples: 11, no_verdict: None },
                sampling_s: 0.25,
                calls_per_sample: 1,
                cache_method: "left alone".into(),
                gb_per_s: None,
                gflop_per_s: None,
                ceiling_gb_per_s: None,
                share_of_ceiling: None,
                cache_resident: false,
            }],
            against: vec![],
            notes: vec![],
        }],
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn put(&self, name: &str, report: &BenchReport) -> PathBuf {
        let path = self.0.path().join(name);
        write(report, &path).unwrap();
        path
    }
    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn compare(files: &[&Path], options: &[&str]) -> Ran {
    let mut args = vec!["compare"];
    args.extend(files.iter().map(|f| f.to_str().unwrap()));
    args.extend(options);
    opweave(&args)
}

#[test]
fn the_exit_code_says_what_the_table_says() {
    let folder = Folder::new();
    let base = folder.put("a.json", &report(200.0));
    for (us, code, word) in [(234.0, 3, "slower"), (201.0, 0, "same"), (150.0, 0, "faster"), (209.5, 0, "ambiguous")] {
        let new = folder.put("b.json", &report(us));
        let ran = compare(&[&base, &new], &["--threshold", "5"]);
        assert_eq!(ran.code, code, "{us}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(word), "{us}: {}", ran.out);
    }
    let new = folder.put("b.json", &report(209.5));
    assert_eq!(compare(&[&base, &new], &["--threshold", "5", "--strict"]).code, 3);
}

#[test]
fn drift_between_two_bases_takes_the_verdict_back() {
    let folder = Folder::new();
    let (a, b, a2) = (report(200.0), report(216.0), report(218.0));
    let (a, b, a2) = (folder.put("a.json", &a), folder.put("b.json", &b), folder.put("a2.json", &a2));
    assert_eq!(compare(&[&a, &b], &[]).code, 3);
    let ran = compare(&[&a, &b, &a2], &[]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("ambiguous"));
}

#[test]
fn runs_of_two_devices_are_refused_unless_a_table_is_all_that_is_asked() {
    let folder = Folder::new();
    let a = folder.put("a.json", &report(200.0));
    let mut other = report(300.0);
    other.environment.device.name = "another processor".into();
    other.environment.device.clocks = "locked at 1500 MHz".into();
    let b = folder.put("b.json", &other);
    let ran = compare(&[&a, &b], &[]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!(ran.err, @r"
    error: failed to compare the runs, they differ in 2 fields:
      device.name: A has `a processor`, B has `another processor`
      device.clocks: A has `unknown`, B has `locked at 1500 MHz`
    --table-only shows the numbers without verdicts
    ");
    let ran = compare(&[&a, &b], &["--table-only"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("no verdict") && ran.out.contains("device.name") && !ran.out.contains("slower:"));
}

#[test]
fn a_file_that_cannot_be_judged_is_no_success() {
    let folder = Folder::new();
    let good = folder.put("a.json", &report(200.0));
    let text = std::fs::read_to_string(&good).unwrap();
    let bad = [
        folder.0.path().join("nowhere.json"),
        folder.text("empty.json", ""),
        folder.text("other.json", "{\"schema_version\": 99}"),
        folder.text("zero.json", &text.replacen("\"impl_us\":200.0", "\"impl_us\":0", 1)),
        folder.text("nan.json", &text.replacen("\"impl_us\":200.0", "\"impl_us\":\"NaN\"", 1)),
        folder.text("negative.json", &text.replacen("\"impl_us\":200.0", "\"impl_us\":-1", 1)),
        folder.text("raised.json", &text.replacen("\"impl_us\":200.0", "\"impl_us\":260", 1)),
        folder.text("missing.json", &text.replacen("\"impl_us\":200.0,", "", 1)),
    ];
    for file in bad {
        for files in [[&*good, &*file], [&*file, &*good]] {
            let ran = compare(&files, &[]);
            assert_eq!(ran.code, 2, "{}: {}", file.display(), ran.out);
            assert!(ran.err.contains(file.file_name().unwrap().to_str().unwrap()), "{}", ran.err);
        }
    }
}

#[test]
fn a_comparison_as_json_carries_the_verdict() {
    let folder = Folder::new();
    let (a, b) = (folder.put("a.json", &report(200.0)), folder.put("b.json", &report(300.0)));
    let ran = compare(&[&a, &b], &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, json["regressed"].as_bool()), (3, Some(true)));
    assert_eq!(json["entries"][0]["verdict"], "slower");
}
