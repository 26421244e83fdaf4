// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use opweave_bench::report::RowStatus;

use super::sample::{bench_report, bench_row, device, entry, row, run};
use super::*;

const RMS: (&str, &str) = ("rms_norm", "t1_h4096_bf16");

fn filled(edit: impl FnOnce(&mut crate::workload::Entry, &mut Vec<opweave_bench::report::Row>)) -> Row {
    let mut entry = entry(RMS.0, RMS.1);
    let mut rows = vec![bench_row(RMS.0, RMS.1, "cpu.native.rms_norm", true, &[10.0, 10.2, 9.8])];
    edit(&mut entry, &mut rows);
    let planned = Planned { kernel: RMS.0.into(), label: RMS.1.into() };
    let mut row = Row::blank(&planned, &device(), Status::Fail, None);
    fill(&mut row, &entry, &bench_report(rows), &Default::default());
    row
}

#[test]
fn a_ratio_is_the_fastest_reference_over_ours() {
    let row = filled(|entry, rows| {
        entry.references = vec!["torch_eager".into(), "liger".into()];
        rows.push(bench_row(RMS.0, RMS.1, "torch.eager", false, &[30.0, 30.0, 30.0]));
        rows.push(bench_row(RMS.0, RMS.1, "liger", false, &[20.0, 20.4, 19.6]));
    });
    assert_eq!((row.status, row.fastest_reference().unwrap().name.as_str()), (Status::Ok, "liger"));
    assert!((row.ratio.unwrap() - 2.0).abs() < 1e-9 && row.ratio_rounds.len() == 3, "{row:?}");
    assert_eq!(row.provenance[0].text, "torch 2.11.0");
    assert_eq!(row.sampling_s, Some(0.75), "that of ours and of two references");
    validate_row(&row).unwrap();
}

#[test]
fn a_row_without_a_measured_reference_has_no_ratio() {
    let alone = filled(|_, _| {});
    assert_eq!((alone.status, alone.ratio), (Status::Ok, None));
    let fails = |optional: bool, status: RowStatus| {
        filled(|entry, rows| {
            let list = if optional { &mut entry.optional_references } else { &mut entry.references };
            list.push("torch_eager".into());
            let mut other = bench_row(RMS.0, RMS.1, "torch_eager", false, &[1.0]);
            (other.status, other.reason) = (status, Some("no module named torch".into()));
            other.series.clear();
            rows.push(other);
            rows[0].status = RowStatus::BaselineError;
        })
    };
    let required = fails(false, RowStatus::Fail);
    assert_eq!((required.status, required.ratio), (Status::BaselineError, None));
    assert!(required.reason.as_ref().unwrap().contains("no module named torch") && required.ours().is_some());
    let optional = fails(true, RowStatus::Fail);
    assert_eq!((optional.status, optional.marks.len()), (Status::Ok, 1), "{optional:?}");
    // What a library does not have is no failure, required or not.
    assert_eq!(fails(false, RowStatus::Skip).status, Status::Ok);
}

#[test]
fn a_report_without_the_row_is_a_failure() {
    let row = filled(|_, rows| rows.clear());
    assert_eq!(row.status, Status::Fail);
    assert!(row.reason.unwrap().contains("no row of this case"));
}

#[test]
fn a_run_survives_the_file_and_every_bad_number_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs/1.json");
    let good = run("1", vec![row(RMS.0, RMS.1, &[10.0], Some(&[20.0]))]);
    write_run(&good, &path).unwrap();
    assert_eq!(read_run(&path).unwrap(), good);
    assert_eq!(kind_of(&path).as_deref(), Some(RUN_KIND));
    let text = std::fs::read_to_string(&path).unwrap();
    let edits = [
        ("\"us\":10.0", "\"us\":0.0"),
        ("\"us\":10.0", "\"us\":13.0"),
        ("\"us\":10.0", "\"us\":-10.0"),
        ("\"us\":10.0", "\"us\":\"fast\""),
        ("\"us\":10.0,", ""),
        ("\"us\":10.0", "\"us\":NaN"),
        ("\"ratio\":2.0", "\"ratio\":2.6"),
        ("\"ratio\":2.0", "\"ratio\":null"),
        ("\"schema_version\":1", "\"schema_version\":7"),
        ("\"kind\":\"suite_run\"", "\"kind\":\"suite_baseline\""),
        ("\"status\":\"ok\"", "\"status\":\"fine\""),
        ("\"leased\":true", "\"leased\":true,\"extra\":1"),
    ];
    for (from, to) in edits {
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = read_run(&path).unwrap_err().to_string();
        assert!(error.contains("1.json"), "{to}: {error}");
    }
}

#[test]
fn shards_join_into_the_run_that_they_are_parts_of() {
    let rows = ["t1_h8_f32", "t2_h8_f32", "t3_h8_f32"].map(|label| row("rms_norm", label, &[10.0], None));
    let shard = |index: usize, rows: &[Row]| {
        let mut part = run(&format!("s{index}"), rows.to_vec());
        (part.shard, part.whole) = (Some(format!("{index}/2")), 3);
        part.partial = Some(format!("--shard {index}/2"));
        part
    };
    let (a, b) = (shard(1, &rows[..2]), shard(2, &rows[2..]));
    let merged = merge_shards(&[a.clone(), b.clone()], "m").unwrap();
    assert_eq!((merged.rows.len(), merged.partial, merged.shard, merged.state), (3, None, None, RunState::Complete));
    assert_eq!(
        merge_shards(std::slice::from_ref(&a), "m").unwrap().partial.as_deref(),
        Some("1 of 3 rows are in no shard")
    );
    let refused = |runs: &[Run], text: &str| {
        let error = merge_shards(runs, "m").unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(&[], "there are no runs");
    refused(&[a.clone(), shard(2, &rows[1..])], "is in another shard as well");
    let edit = |edit: &dyn Fn(&mut Run)| {
        let mut other = b.clone();
        edit(&mut other);
        other
    };
    refused(&[a.clone(), edit(&|r| r.protocol.rounds = 9)], "its protocol is");
    refused(&[a.clone(), edit(&|r| r.device.name = "another".into())], "its device is");
    refused(&[a.clone(), edit(&|r| r.revision = None)], "its revision is");
    refused(&[a.clone(), edit(&|r| r.whole = 4)], "rows of the whole sweep");
    refused(&[a.clone(), edit(&|r| r.shard = None)], "it is no shard");
    // What keeps one shard from a baseline keeps all of them from it.
    for (first, second) in [(None, Some(0.5)), (Some(0.5), None), (Some(0.2), Some(0.5))] {
        let (mut a, mut b) = (a.clone(), b.clone());
        (a.admitted_work, b.admitted_work) = (first, second);
        assert_eq!(merge_shards(&[a, b], "m").unwrap().admitted_work, Some(0.5));
    }
    for (leased, dirty) in [(false, Some(false)), (true, Some(true)), (true, None)] {
        let other = edit(&|r| (r.leased, r.dirty) = (leased, dirty));
        let merged = merge_shards(&[a.clone(), other], "m").unwrap();
        assert_eq!((merged.leased, merged.dirty), (leased, dirty));
    }
}
