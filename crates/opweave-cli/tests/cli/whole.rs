// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runs that validate and time on this machine.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use opweave_bench::report::{BenchReport, RowStatus, RunStatus, read};

use crate::run::{Ran, command, opweave};

fn load(path: &Path) -> BenchReport {
    read(path).unwrap()
}

/// A short bench of one case, written to `path`.
fn bench(path: &Path, more: &[&str]) -> Ran {
    let fixed = ["bench", "--operation", "rms_norm", "--label", "t1_h4096_bf16", "--iterations", "3", "--rounds", "3"];
    opweave(&[&fixed[..], &["--threads", "1", "--output", path.to_str().unwrap()], more].concat())
}

#[test]
fn numerics_validates_and_says_so_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numerics.json");
    let args = ["numerics", "--operation", "rms_norm", "--tier", "smoke", "--output", path.to_str().unwrap()];
    let ran = opweave(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("rms_norm") && ran.out.contains("passed:"), "{}", ran.out);
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(report["status"], "passed");
    assert!(path.with_extension("md").exists());
    // On a pipe there is a line for each operation, and no bar.
    assert!(ran.err.contains("rms_norm: ") && !ran.err.contains('\x1b'), "{}", ran.err);
}

#[test]
fn bench_times_what_passed_and_compares_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
    let ran = bench(&a, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for word in ["GB/s", "ceiling", "eager cold", "eager hot", "1 timed"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    let report = load(&a);
    assert_eq!((report.status, report.rows.len(), report.rows[0].series.len()), (RunStatus::Complete, 1, 4));
    let ceilings = report.ceilings.unwrap();
    assert!(ceilings.multiply_add_gflop_per_s.is_some_and(|r| r > 0.0));
    assert!(report.rows[0].series[0].share_of_ceiling.is_some_and(|s| s > 0.0));
    assert_eq!(report.environment.device.threads, Some(1));
    let same = opweave(&["compare", a.to_str().unwrap(), a.to_str().unwrap()]);
    assert_eq!(same.code, 0, "{}", same.out);
    // Other series are another measurement.
    let ran = bench(&b, &["--cache", "hot"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let unlike = opweave(&["compare", a.to_str().unwrap(), b.to_str().unwrap()]);
    assert_eq!(unlike.code, 2, "{}", unlike.out);
    assert!(unlike.err.contains("cache"), "{}", unlike.err);
}

#[test]
fn a_baseline_takes_its_turns_in_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    let ran = bench(
        &path,
        &["--implementation", "cpu.native.rms_norm.portable", "--baseline", "cpu.native.rms_norm.portable"],
    );
    assert_eq!(ran.code, 2, "a baseline of itself says nothing: {}", ran.out);
    let ran = bench(&path, &["--baseline", "cpu.native.rms_norm.portable"]);
    if !opweave(&["devices"]).out.contains("+avx2") {
        // Selection takes the portable row here, so it is its own baseline again.
        assert_eq!(ran.code, 2, "{}", ran.out);
        return;
    }
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let report = load(&path);
    assert_eq!(report.rows[0].against.len(), 2);
    assert_eq!(report.rows[0].order.as_deref(), Some("A B B A, 8 times"));
}

#[test]
fn the_reference_is_not_timed_against_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    let ran = bench(&path, &["--implementation", "cpu.reference.rms_norm"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(load(&path).rows.iter().all(|row| row.status == RowStatus::Fail && row.series.is_empty()));
}

#[test]
fn graph_mode_replays_independent_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    let ran = bench(&path, &["--mode", "graph"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let report = load(&path);
    assert!(report.rows[0].series.iter().all(|s| s.calls_per_sample > 1), "{:?}", report.rows[0].reason);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130_and_leaves_a_whole_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    let mut child = command(&["bench", "--tier", "smoke", "--repeat-ms", "50", "--output", path.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The first line is the first finished case; there are a dozen more.
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains(" us"), "{first}");
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    let report = load(&path);
    assert_eq!(report.status, RunStatus::Interrupted);
    assert_eq!(report.rows[0].status, RowStatus::Ok);
    assert!(report.rows.iter().any(|row| row.status == RowStatus::Cancelled));
    let names = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name());
    assert_eq!(names.filter(|n| n.to_string_lossy().starts_with('.')).count(), 0, "no temporary file stays");
}
