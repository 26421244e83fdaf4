// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reports and runs that were never measured, for tests.

use opweave_bench::measurement::{Cache, Kind, Measurement, Metric, Scope, Timer};
use opweave_bench::protocol::{Counts, Protocol};
use opweave_bench::report::{
    BenchReport, CacheSizes, Row as BenchRow, RowStatus, RunStatus, SCHEMA_VERSION, Series, Work,
};
use opweave_numerics::input::Grade;
use opweave_numerics::report::{DeviceEnvironment, Environment, Implementation};
use opweave_numerics::{Mode, Verdict};

use super::{Planned, RUN_KIND, Row, Run, RunState, Status, fill};
use crate::identity::Identity;
use crate::workload::{Entry, flat};

pub(crate) fn entry(kernel: &str, label: &str) -> Entry {
    let text = format!("[[config]]\nkernel = \"{kernel}\"\nlabel = \"{label}\"\n");
    flat(std::path::Path::new("list.toml"), &text).unwrap().remove(0)
}

pub(crate) fn device() -> Identity {
    Identity { id: "cpu".into(), name: "a processor".into(), key: "cpu:x86_64".into(), uuid: "CPU-1".into() }
}

fn implementation(name: &str, ours: bool) -> Implementation {
    Implementation {
        name: name.into(),
        solution: if ours { "native" } else { "external" }.into(),
        variant: None,
        binding: "rust".into(),
        deterministic: true,
        batch_invariant: true,
        launch: Default::default(),
    }
}

/// A row of a report, whose rounds have these medians.
pub(crate) fn bench_row(kernel: &str, label: &str, name: &str, ours: bool, rounds: &[f64]) -> BenchRow {
    let kind = Kind { timer: Timer::Wall, scope: Scope::KernelOnly, metric: Metric::Completion, cache: Cache::Cold };
    let samples = rounds.iter().map(|us| (-5..=5).map(|i| us * (1.0 + 0.001 * f64::from(i))).collect()).collect();
    BenchRow {
        case_id: format!("{kernel}/{label}/seed5309"),
        operation: kernel.into(),
        label: label.into(),
        problem: [("hidden_size".to_owned(), "4096".to_owned())].into(),
        grade: Grade::Normal,
        mode: Mode::Eager,
        implementation: implementation(name, ours),
        reference: !ours,
        validation: Verdict::Passed,
        status: RowStatus::Ok,
        reason: None,
        work: Some(Work { bytes_read: 8192, bytes_written: 8192, flops: 20_000 }),
        preparation_us: None,
        order: Some("A B | B A".into()),
        series: vec![Series {
            measurement: Measurement::new(kind, samples, None).unwrap(),
            sampling_s: 0.25,
            counts: Counts { estimate_us: rounds[0], warmup: 1, samples: 11, no_verdict: None },
            calls_per_sample: 1,
            cache_method: "sets of arguments: 9 in turn".into(),
            gb_per_s: Some(16.384 / rounds[0]),
            gflop_per_s: Some(20.0 / rounds[0]),
            ceiling_gb_per_s: Some(2.0),
            share_of_ceiling: Some(8.192 / rounds[0]),
            cache_resident: false,
        }],
        against: vec![],
        notes: if ours { vec![] } else { vec![format!("{name}: torch 2.11.0")] },
    }
}

pub(crate) fn bench_report(rows: Vec<BenchRow>) -> BenchReport {
    BenchReport {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        command: vec!["opweave".into(), "bench".into()],
        started_unix_s: 1_790_000_000,
        elapsed_s: 1.0,
        environment: Environment {
            device: DeviceEnvironment { id: "cpu".into(), name: "a processor".into(), ..DeviceEnvironment::default() },
            revision: Some("0123abcd".into()),
            dirty: Some(false),
            build: "release".into(),
            ..Environment::default()
        },
        caches: CacheSizes::default(),
        protocol: Protocol::default(),
        distributed: None,
        seed: 5309,
        generator: "counter-1".into(),
        ceilings: None,
        rows,
    }
}

/// A row of a run: ours and, with `reference`, one more implementation.
pub(crate) fn row(kernel: &str, label: &str, ours: &[f64], reference: Option<&[f64]>) -> Row {
    let mut entry = entry(kernel, label);
    let mut rows = vec![bench_row(kernel, label, &format!("cpu.native.{kernel}"), true, ours)];
    if let Some(rounds) = reference {
        entry.references = vec!["torch_eager".into()];
        rows.push(bench_row(kernel, label, "torch.eager", false, rounds));
    }
    let planned = Planned { kernel: kernel.into(), label: label.into() };
    let mut row = Row::blank(&planned, &device(), Status::Ok, None);
    fill(&mut row, &entry, &bench_report(rows), &Default::default());
    assert_eq!(row.status, Status::Ok, "{:?}", row.reason);
    row
}

/// A run that could be promoted.
pub(crate) fn run(id: &str, rows: Vec<Row>) -> Run {
    Run {
        schema_version: super::SCHEMA_VERSION,
        kind: RUN_KIND.into(),
        id: id.into(),
        state: RunState::Complete,
        command: vec!["opweave".into(), "suite".into()],
        started_unix_s: 1_790_000_000,
        elapsed_s: 9.0,
        device: device(),
        threads: Some(2),
        driver: None,
        caches: None,
        leased: true,
        admitted_work: None,
        protocol: Protocol::default(),
        partial: None,
        shard: None,
        whole: rows.len(),
        revision: Some("0123abcd".into()),
        dirty: Some(false),
        build: "release".into(),
        planned: rows.iter().map(Row::planned).collect(),
        rows,
    }
}
