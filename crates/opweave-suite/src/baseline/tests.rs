// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::Path;

use super::*;
use crate::record::sample::{row, run};
use crate::record::{Row, Run, RunState, Status};

type Edit<'a> = &'a dyn Fn(&mut Run);

const NOWHERE: &str = "suites/baseline/a-processor.json";

fn two() -> Vec<Row> {
    vec![
        row("l2_norm", "t1_h8_f32", &[10.0, 10.1, 9.9], None),
        row("rms_norm", "t1_h8_f32", &[10.0, 10.1, 9.9], Some(&[20.0, 20.2, 19.8])),
    ]
}

fn text_of(run: &Run) -> String {
    promote(run, Path::new(NOWHERE), None, false).unwrap()
}

#[test]
fn a_promoted_run_is_a_baseline_without_samples_and_no_run() {
    let run = run("1", two());
    let text = text_of(&run);
    let baseline = parse_baseline(Path::new(NOWHERE), &text).unwrap();
    assert_eq!(baseline.rows.len(), 2);
    assert!(baseline.rows.iter().flat_map(|row| &row.impls).all(|one| one.raw.is_none()));
    // Neither passes for the other.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    std::fs::write(&path, &text).unwrap();
    assert!(crate::record::read_run(&path).unwrap_err().to_string().contains("it is `suite_baseline`"));
    crate::record::write_run(&run, &path).unwrap();
    let error = read_baseline(&path).unwrap_err().to_string();
    assert!(error.contains("it is `suite_run`") && error.contains("opweave promote"), "{error}");
}

#[test]
fn what_is_no_good_measurement_is_not_promoted() {
    let cases: [(Edit<'_>, &str); 12] = [
        (&|r| r.dirty = Some(true), "the checkout had changes"),
        (&|r| r.dirty = None, "nobody knows"),
        (&|r| r.revision = None, "no revision"),
        (&|r| r.partial = Some("--kernel rms_*".into()), "partial (--kernel rms_*)"),
        (&|r| r.state = RunState::Stopped, "not complete"),
        (&|r| r.protocol.rounds = 4, "4 rounds, 5 are needed"),
        (&|r| r.leased = false, "not leased"),
        (&|r| r.admitted_work = Some(2.0), "it admitted others at 200 %"),
        (&|r| r.build = "debug".into(), "a debug build"),
        (&|r| r.rows[0].status = Status::Interfered, "l2_norm/t1_h8_f32 is `interfered`"),
        (&|r| r.rows[0].no_verdict = Some("capped".into()), "decides nothing: capped"),
        (&|r| r.rows.iter_mut().for_each(|row| row.status = Status::Skip), "no row was measured"),
    ];
    for (edit, text) in cases {
        let mut bad = run("1", two());
        edit(&mut bad);
        let error = promote(&bad, Path::new(NOWHERE), None, false).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    // All reasons at once.
    let mut bad = run("1", two());
    (bad.dirty, bad.leased) = (Some(true), false);
    let error = promote(&bad, Path::new(NOWHERE), None, false).unwrap_err().to_string();
    assert!(error.contains("changes; its device was not leased"), "{error}");
    let mut other = run("1", two());
    let old = text_of(&other);
    other.device.name = "another".into();
    assert!(promote(&other, Path::new(NOWHERE), Some(&old), false).unwrap_err().to_string().contains("the run of"));
}

#[test]
fn a_merge_leaves_unrelated_rows_their_bytes() {
    let old = text_of(&run("1", two()));
    // As somebody may have formatted it; the bytes of a row are its own.
    let old = old.replace("\"kernel\":\"l2_norm\"", "\"kernel\": \"l2_norm\"");
    let mut part = run("2", vec![row("rms_norm", "t1_h8_f32", &[5.0, 5.1, 4.9], Some(&[20.0, 20.2, 19.8]))]);
    part.partial = Some("--kernel rms_norm".into());
    part.rows[0].revision = Some("feed".into());
    let new = promote(&part, Path::new(NOWHERE), Some(&old), true).unwrap();
    let line = |text: &str, kernel: &str| {
        text.lines().find(|l| l.contains("\"label\"") && l.contains(kernel)).unwrap().trim_end_matches(',').to_owned()
    };
    assert_eq!(line(&new, "l2_norm"), line(&old, "l2_norm"));
    assert_ne!(line(&new, "\"rms_norm\""), line(&old, "\"rms_norm\""));
    let merged = parse_baseline(Path::new(NOWHERE), &new).unwrap();
    let revisions: Vec<_> = merged.rows.iter().map(|row| row.revision.as_deref().unwrap()).collect();
    assert_eq!(revisions, ["0123abcd", "feed"]);
    assert!(promote(&part, Path::new(NOWHERE), None, true).unwrap_err().to_string().contains("to merge into"));
    // A row that this machine lacks the hardware for leaves what another has measured.
    let mut lacking = run("4", two());
    lacking.rows[0] = Row::blank(&lacking.rows[0].planned(), &lacking.rows[0].device, Status::Skip, None);
    let kept = promote(&lacking, Path::new(NOWHERE), Some(&old), true).unwrap();
    assert_eq!(line(&kept, "l2_norm"), line(&old, "l2_norm"));
    // Row by row, a merge of the whole is the whole.
    let all = run("3", two());
    assert_eq!(promote(&all, Path::new(NOWHERE), Some(&text_of(&all)), true).unwrap(), text_of(&all));
}

#[test]
fn c09_a_baseline_with_a_bad_number_is_no_baseline() {
    let text = text_of(&run("1", two()));
    for (from, to) in [
        ("\"us\":10.0", "\"us\":0.0"),
        ("\"us\":10.0", "\"us\":13.0"),
        ("\"us\":10.0", "\"us\":-10.0"),
        ("\"us\":10.0", "\"us\":NaN"),
        ("\"us\":10.0", "\"us\":\"10\""),
        ("\"us\":10.0,", ""),
        ("\"ratio\":2.0", "\"ratio\":2.6"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(parse_baseline(Path::new(NOWHERE), &text.replacen(from, to, 1)).is_err(), "{to}");
    }
}

fn judged(ours: &[f64], reference: Option<&[f64]>) -> Entry {
    let base = Baseline::of(&run(
        "1",
        vec![row("rms_norm", "t1_h8_f32", &[200.0, 200.4, 199.6], reference.map(|_| &[400.0, 400.8, 399.2][..]))],
    ));
    let new = run("2", vec![row("rms_norm", "t1_h8_f32", ours, reference)]);
    let judgement = judge(&base, &new, &Options::default()).unwrap();
    assert_eq!(judgement.regressed, judgement.entries[0].verdict == Verdict::Slower);
    judgement.entries[0].clone()
}

#[test]
fn c06_a_fall_beyond_threshold_and_noise_is_a_regression() {
    let cases: [(&[f64], Verdict); 6] = [
        (&[234.0, 234.4, 233.6], Verdict::Slower),
        (&[201.0, 201.4, 200.6], Verdict::Same),
        (&[150.0, 150.4, 149.6], Verdict::Faster),
        // 4 % slower in rounds that differ by as much: the noise of both is 5 %.
        (&[198.0, 218.0, 208.0], Verdict::Ambiguous),
        // Far beyond the noise of either.
        (&[290.0, 310.0, 300.0], Verdict::Slower),
        // One round has no spread: nothing can be said beyond the threshold.
        (&[234.0], Verdict::Ambiguous),
    ];
    for (rounds, verdict) in cases {
        assert_eq!(judged(rounds, None).verdict, verdict, "{rounds:?}");
    }
}

#[test]
fn a_ratio_decides_where_both_have_one() {
    // The machine is a fifth slower for both: nothing happened to ours.
    let entry = judged(&[240.0, 240.4, 239.6], Some(&[480.0, 480.8, 479.2]));
    assert_eq!((entry.verdict, entry.by.as_str()), (Verdict::Same, "ratio"));
    assert_eq!(judged(&[220.0, 220.4, 219.6], Some(&[400.0, 400.8, 399.2])).verdict, Verdict::Slower);
}

#[test]
fn what_decides_nothing_gets_no_verdict_and_every_row_is_listed() {
    let base = Baseline::of(&run("1", two()));
    let mut new = run(
        "2",
        vec![row("rms_norm", "t1_h8_f32", &[100.0, 101.0, 99.0], None), row("softmax", "t1_h8_f32", &[1.0, 1.0], None)],
    );
    new.rows[0].status = Status::Interfered;
    new.rows[0].reason = Some("a compiler".into());
    let judgement = judge(&base, &new, &Options::default()).unwrap();
    assert!(!judgement.regressed);
    let entry = &judgement.entries[0];
    assert_eq!(entry.verdict, Verdict::None);
    assert!(entry.note.as_ref().unwrap().contains("the run is `interfered`"), "{entry:?}");
    assert_eq!(
        (judgement.new, judgement.missing),
        (vec!["softmax/t1_h8_f32".to_owned()], vec!["l2_norm/t1_h8_f32".to_owned()])
    );
    new.partial = Some("--kernel x".into());
    let judgement = judge(&base, &new, &Options::default()).unwrap();
    assert_eq!((judgement.missing.len(), judgement.unattempted.len()), (0, 1));
    // One that a cancelled run did not come to was not attempted either, and is no fall.
    let mut cut = run("2", two());
    cut.rows[0] = Row::blank(&cut.rows[0].planned(), &cut.rows[0].device, Status::Cancelled, None);
    let judgement = judge(&base, &cut, &Options::default()).unwrap();
    assert_eq!((judgement.entries.len(), judgement.unattempted), (1, vec!["l2_norm/t1_h8_f32".to_owned()]));
    // Another choice is marked.
    let mut new = run("2", two());
    new.rows[0].implementation = Some("cpu.native.l2_norm.avx2".into());
    let judgement = judge(&base, &new, &Options::default()).unwrap();
    assert!(judgement.entries[0].note.as_ref().unwrap().contains("instead of cpu.native.l2_norm"));
}

#[test]
fn c10_unlike_machines_and_protocols_are_refused_field_by_field() {
    let base = Baseline::of(&run("1", two()));
    let cases: [(Edit<'_>, &str); 6] = [
        (&|r| r.device.name = "another".into(), "device.name"),
        (&|r| r.driver = Some("2".into()), "device.driver"),
        (&|r| r.threads = Some(1), "device.threads"),
        (&|r| r.rows[0].series = Some("event kernel_only completion cold".into()), "series"),
        (&|r| r.rows[0].grade = Some("exact".into()), "inputs"),
        (&|r| r.rows[0].protocol.as_mut().unwrap().repeat_ms = 1.0, "protocol"),
    ];
    for (edit, field) in cases {
        let mut new = run("2", two());
        edit(&mut new);
        let error = judge(&base, &new, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("1 field:"), "{error}");
        let table = judge(&base, &new, &Options { table_only: true, ..Options::default() }).unwrap();
        assert!(!table.regressed && table.entries.iter().all(|e| e.verdict == Verdict::None));
        assert_eq!(table.differences.len(), 1);
    }
}

#[test]
fn a_table_of_rows_breaks_at_no_text() {
    let mut rows = two();
    (rows[0].status, rows[0].reason) = (Status::Fail, Some("a | b\nc".into()));
    let text = markdown("Baseline", &Device::of(&run("1", Vec::new())), &rows);
    assert!(text.contains("fail: a \\| b c |") && text.contains("| 2.00 | ok |"), "{text}");
}
