// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A small, whole report for tests.

use opweave_numerics::input::Grade;
use opweave_numerics::report::{DeviceEnvironment, Environment, HostEnvironment, Implementation};
use opweave_numerics::{Mode, Verdict};

use super::*;
use crate::ceilings::{Ceilings, Point};
use crate::measurement::{Cache, Kind, Measurement, Metric, Scope, Timer};
use crate::protocol::{Counts, Protocol};

pub(crate) const KIND: Kind =
    Kind { timer: Timer::Wall, scope: Scope::KernelOnly, metric: Metric::Completion, cache: Cache::Cold };

/// Rounds with these medians, each of 11 samples from 1 % below to 1 % above.
pub(crate) fn measured(kind: Kind, rounds: &[f64]) -> Measurement {
    let around = |m: &f64| (-5..=5).map(|i| m * (1.0 + 0.002 * f64::from((i * 7) % 6))).collect();
    Measurement::new(kind, rounds.iter().map(around).collect(), None).unwrap()
}

pub(crate) fn series_of(rounds: &[f64]) -> Series {
    Series {
        measurement: measured(KIND, rounds),
        counts: Counts { estimate_us: rounds[0], warmup: 10, samples: 11, no_verdict: None },
        sampling_s: 0.25,
        calls_per_sample: 1,
        cache_method: "inputs rotated through 96 MiB".into(),
        gb_per_s: Some(12.5),
        gflop_per_s: Some(3.0),
        ceiling_gb_per_s: Some(14.0),
        share_of_ceiling: Some(0.893),
        cache_resident: false,
    }
}

pub(crate) fn row(case_id: &str, series: Series) -> Row {
    let mut parts = case_id.split('/');
    Row {
        case_id: case_id.into(),
        operation: parts.next().unwrap().into(),
        label: parts.next().unwrap().into(),
        problem: [("hidden_size".to_owned(), "4096".to_owned())].into(),
        grade: Grade::Normal,
        mode: Mode::Eager,
        implementation: Implementation {
            name: "cpu.native.rms_norm".into(),
            solution: "native".into(),
            variant: Some("avx2".into()),
            binding: "rust".into(),
            deterministic: true,
            batch_invariant: true,
            launch: Default::default(),
        },
        reference: false,
        validation: Verdict::Passed,
        status: RowStatus::Ok,
        reason: None,
        work: Some(Work { bytes_read: 139_264, bytes_written: 131_072, flops: 262_144 }),
        preparation_us: Some(3.25),
        order: Some("A | A | A | A | A".into()),
        series: vec![series],
        against: vec![],
        notes: vec![],
    }
}

pub(crate) fn report(rows: Vec<Row>) -> BenchReport {
    BenchReport {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        command: vec!["opweave".into(), "bench".into()],
        started_unix_s: 1_790_000_000,
        elapsed_s: 12.5,
        environment: Environment {
            device: DeviceEnvironment {
                id: "cpu".into(),
                name: "a processor".into(),
                key: "cpu avx2".into(),
                clocks: "unknown".into(),
                threads: Some(2),
                ..DeviceEnvironment::default()
            },
            host: HostEnvironment {
                system: "linux x86_64".into(),
                load_before: Some(0.1),
                ..HostEnvironment::default()
            },
            opweave: "0.1.0".into(),
            build: "release".into(),
            rustc: "rustc 1.95.0".into(),
            revision: Some("0123abc".into()),
            dirty: Some(false),
            ..Environment::default()
        },
        caches: CacheSizes {
            l1_bytes: 32 << 10,
            l2_bytes: 1 << 20,
            last_level_bytes: 32 << 20,
            source: "sysfs".into(),
        },
        protocol: Protocol::default(),
        distributed: None,
        seed: 5309,
        generator: "counter-1".into(),
        ceilings: Some(Ceilings {
            points: vec![Point {
                pattern: "mixed".into(),
                bytes_read: 139_264,
                bytes_written: 131_072,
                hot_us: Some(4.0),
                cold_us: Some(19.3),
            }],
            multiply_add_gflop_per_s: Some(81.5),
        }),
        rows,
    }
}
