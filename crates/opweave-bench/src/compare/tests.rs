// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use super::*;
use crate::report::sample::{report, row, series_of};

fn strict() -> Options {
    Options { strict: true, ..Options::default() }
}

fn five_percent() -> Options {
    Options { threshold: 0.05, ..Options::default() }
}

/// One row whose rounds have these medians, with samples 1 % around them.
fn run(rounds: &[f64]) -> BenchReport {
    report(vec![row("rms_norm/t16_h4096_bf16/seed1", series_of(rounds))])
}

fn verdict(a: &BenchReport, b: &BenchReport, a2: Option<&BenchReport>, options: &Options) -> (Verdict, bool) {
    let c = compare(a, b, a2, options).unwrap();
    assert_eq!(c.entries.len(), 1);
    (c.entries[0].verdict.unwrap(), c.regressed)
}

#[test]
fn verdicts_follow_interval_and_threshold() {
    let base = run(&[200.0; 5]);
    for (new, want, fails) in [
        ([234.0; 5], Verdict::Slower, true),
        ([201.0; 5], Verdict::Same, false),
        ([150.0; 5], Verdict::Faster, false),
        ([200.0, 190.0, 212.0, 220.0, 203.0], Verdict::Ambiguous, false),
        // Beyond the threshold on average, with a round below the base.
        ([200.0, 190.0, 212.0, 260.0, 203.0], Verdict::Ambiguous, false),
    ] {
        assert_eq!(verdict(&base, &run(&new), None, &five_percent()), (want, fails), "{new:?}");
    }
    let wide = run(&[200.0, 190.0, 212.0, 220.0, 203.0]);
    let options = Options { strict: true, ..five_percent() };
    assert_eq!(verdict(&base, &wide, None, &options), (Verdict::Ambiguous, true));
}

#[test]
fn a_difference_within_the_drift_is_ambiguous() {
    let (a, b, a2) = (run(&[200.0; 5]), run(&[216.0; 5]), run(&[218.0; 5]));
    assert_eq!(verdict(&a, &b, None, &five_percent()).0, Verdict::Slower);
    assert_eq!(verdict(&a, &b, Some(&a2), &five_percent()).0, Verdict::Ambiguous);
    let c = compare(&a, &b, Some(&a2), &five_percent()).unwrap();
    assert!((c.entries[0].drift.unwrap() - 0.09).abs() < 1e-9);
    // A second run that is faster says as much about the machine as one that is slower.
    assert_eq!(verdict(&a, &b, Some(&run(&[180.0; 5])), &five_percent()).0, Verdict::Ambiguous);
    // Far beyond the drift it is a difference again.
    assert_eq!(verdict(&a, &run(&[300.0; 5]), Some(&a2), &five_percent()).0, Verdict::Slower);
}

#[test]
fn one_sample_decides_nothing() {
    let mut a = run(&[200.0; 5]);
    a.rows[0].series = vec![series_of(&[200.0])];
    a.rows[0].series[0].measurement =
        crate::measurement::Measurement::new(a.rows[0].series[0].measurement.kind(), vec![vec![200.0]], None).unwrap();
    let mut b = a.clone();
    b.rows[0].series[0].measurement =
        crate::measurement::Measurement::new(a.rows[0].series[0].measurement.kind(), vec![vec![900.0]], None).unwrap();
    assert_eq!(verdict(&a, &b, None, &Options::default()), (Verdict::Ambiguous, false));
    assert!(verdict(&a, &b, None, &strict()).1);
}

#[test]
fn unlike_runs_are_refused_and_every_difference_is_listed() {
    type Edit = fn(&mut BenchReport);
    let edits: &[(&str, Edit)] = &[
        ("schema_version", |r| r.schema_version = 3),
        ("device.name", |r| r.environment.device.name = "other".into()),
        ("device.key", |r| r.environment.device.key = "cpu:baseline".into()),
        ("device.driver", |r| r.environment.device.driver = Some("570.1".into())),
        ("device.runtime", |r| r.environment.device.runtime = Some("13.0".into())),
        ("device.clocks", |r| r.environment.device.clocks = "locked at 1500 MHz".into()),
        ("device.threads", |r| r.environment.device.threads = Some(1)),
        ("caches", |r| r.caches.last_level_bytes = 1),
        ("environment.build", |r| r.environment.build = "debug".into()),
        ("protocol.warmup_ms", |r| r.protocol.warmup_ms = 1.0),
        ("protocol.repeat_ms", |r| r.protocol.repeat_ms = 1.0),
        ("protocol.iterations", |r| r.protocol.iterations = Some(3)),
        ("protocol.rounds", |r| r.protocol.rounds = 3),
        ("protocol.cooldown_s", |r| r.protocol.cooldown_s = 3.0),
        ("protocol.turns", |r| r.protocol.turns = 6),
        ("protocol.limit_ms", |r| r.protocol.limit_ms = 3.0),
        ("protocol.patience", |r| r.protocol.patience = 9.0),
        ("protocol.graph_calls", |r| r.protocol.graph_calls = 3),
        ("protocol.min_samples", |r| r.protocol.min_samples = 3),
        ("protocol.max_samples", |r| r.protocol.max_samples = 3),
        ("generator", |r| r.generator = "other".into()),
        ("problem", |r| drop(r.rows[0].problem.insert("eps".into(), "2e-6".into()))),
        ("grade", |r| r.rows[0].grade = opweave_numerics::input::Grade::Uniform),
        ("timer", |r| r.rows[0].series[0].measurement.timer = crate::measurement::Timer::Event),
        ("scope", |r| r.rows[0].series[0].measurement.scope = crate::measurement::Scope::EndToEnd),
        ("cache", |r| r.rows[0].series[0].cache_method = "flushed".into()),
        ("calls_per_sample", |r| r.rows[0].series[0].calls_per_sample = 64),
    ];
    let a = run(&[200.0; 5]);
    for (field, edit) in edits {
        let mut b = run(&[200.0; 5]);
        edit(&mut b);
        let refusal = compare(&a, &b, None, &Options::default()).unwrap_err();
        assert_eq!(refusal.differences.len(), 1, "{field}: {refusal}");
        assert!(refusal.differences[0].field.ends_with(field), "{field}: {refusal}");
        let again = compare(&a, &a, Some(&b), &Options::default()).unwrap_err();
        assert_eq!(again.differences[0].run, "A2", "{field}");
        // A table may be had, without any verdict and without a failure.
        let c = compare(&a, &b, None, &Options { table_only: true, ..strict() }).unwrap();
        assert!(c.entries.iter().all(|e| e.verdict.is_none()) && !c.regressed, "{field}");
    }
    let mut b = run(&[200.0; 5]);
    for (_, edit) in edits {
        edit(&mut b);
    }
    assert_eq!(compare(&a, &b, None, &Options::default()).unwrap_err().differences.len(), edits.len());
}

#[test]
fn missing_new_and_renamed_rows_are_listed_and_fail_when_strict() {
    let case = |id: &str, h: &str| {
        let mut row = row(id, series_of(&[10.0; 5]));
        row.problem.insert("hidden_size".into(), h.into());
        row
    };
    let kept = || case("rms_norm/kept/seed1", "1");
    let a = report(vec![kept(), case("rms_norm/gone/seed1", "2"), case("rms_norm/old_name/seed1", "3")]);
    let b = report(vec![kept(), case("rms_norm/new_name/seed1", "3"), case("rms_norm/fresh/seed1", "4")]);
    let c = compare(&a, &b, None, &Options::default()).unwrap();
    let kinds: Vec<_> = c.changes.iter().map(|c| (c.kind, c.case_id.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (ChangeKind::Missing, "rms_norm/gone/seed1"),
            (ChangeKind::Renamed, "rms_norm/old_name/seed1"),
            (ChangeKind::New, "rms_norm/fresh/seed1")
        ]
    );
    assert!(!c.regressed);
    assert!(compare(&a, &b, None, &strict()).unwrap().regressed);
    insta::assert_snapshot!(render(&c, None));
}

#[test]
fn another_implementation_is_no_silent_match() {
    let a = run(&[10.0; 5]);
    let mut b = run(&[5.0; 5]);
    b.rows[0].implementation.name = "cpu.other.rms_norm".into();
    b.rows.push(row("rms_norm/more/seed1", series_of(&[1.0; 5])));
    let c = compare(&a, &b, None, &Options::default()).unwrap();
    assert_eq!(c.changes[0].kind, ChangeKind::OtherImplementation);
    assert!(c.entries.is_empty() && c.regressed, "nothing in common is no success");
}

#[test]
fn a_row_that_fails_now_is_a_regression() {
    let a = run(&[10.0; 5]);
    let mut b = run(&[10.0; 5]);
    b.rows.push(row("rms_norm/other/seed1", series_of(&[10.0; 5])));
    let a = report(vec![a.rows[0].clone(), b.rows[1].clone()]);
    b.rows[0].status = RowStatus::Fail;
    b.rows[0].validation = opweave_numerics::Verdict::Failed;
    b.rows[0].series.clear();
    let c = compare(&a, &b, None, &Options::default()).unwrap();
    assert_eq!((c.changes[0].kind, c.regressed), (ChangeKind::NowFails, true));
    b.rows[0].status = RowStatus::Skip;
    let c = compare(&a, &b, None, &Options::default()).unwrap();
    assert_eq!((c.changes[0].kind, c.regressed), (ChangeKind::NotTimed, false));
}

#[test]
fn turns_decide_by_their_ratios() {
    let spread =
        |middle: f64, by: f64| -> Vec<f64> { (-20..=20).map(|i| middle * (1.0 + by * f64::from(i))).collect() };
    // Two in five are disturbed, and the median does not move.
    let disturbed = |middle: f64| -> Vec<f64> {
        let one = |i: usize| if i % 5 < 2 { middle * 3.0 } else { middle * (1.0 + i as f64 * 1e-5) };
        (0..200).map(one).collect()
    };
    for (ratios, want) in [
        (spread(1.2, 0.001), Verdict::Faster),
        (spread(0.8, 0.001), Verdict::Slower),
        (spread(1.0, 0.0005), Verdict::Same),
        (spread(1.0, 0.005), Verdict::Ambiguous),
        // Beyond doubt, and below the threshold.
        (spread(1.005, 0.0001), Verdict::Same),
        (disturbed(1.1), Verdict::Faster),
        // Seven pairs have no interval of 99 %.
        (vec![1.2; 7], Verdict::Ambiguous),
        (vec![1.2; 8], Verdict::Faster),
        (vec![], Verdict::Ambiguous),
        ([vec![1.0; 50], vec![f64::NAN]].concat(), Verdict::Ambiguous),
        (vec![0.0; 50], Verdict::Ambiguous),
    ] {
        let (verdict, paired) = judge_turns(&ratios, 0.01);
        assert_eq!(verdict, want, "{paired:?} of {ratios:?}");
        assert!(paired.is_none_or(|p| p.low <= p.ratio && p.ratio <= p.high && p.turns == ratios.len()));
    }
}
