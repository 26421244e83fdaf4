// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Distributed runs whose kernels are right, wrong or fail late on one rank. Ranks are threads here, which meet as processes
//! do.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use opweave_numerics::report::rank_path;
use opweave_ranks::{Rank, join};

use super::*;
use crate::report::validate;

fn distributed(operation: &str, path: &Path) -> BenchConfig {
    let mut config = config(operation);
    config.protocol = crate::protocol::ProtocolOptions::default().distributed().unwrap();
    config.caches = vec![Cache::Cold];
    config.selectors.output = Some(path.to_owned());
    config
}

/// What ranks with these deeds come to on one case: the report of all as each rank has it.
fn world(operation: &'static str, deeds: &[Deed], path: &Path) -> Vec<Result<BenchReport, BenchError>> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let size = deeds.len();
    let start = |(number, &deed): (usize, &Deed)| {
        let path: PathBuf = path.to_owned();
        std::thread::spawn(move || {
            let rank =
                Rank { rank: number, size, local_rank: number, address: "127.0.0.1".into(), port, run: String::new() };
            let mut member = join(&rank, Duration::from_secs(30)).unwrap();
            let scene = Scene::new(deed, Deed::Right);
            let config = distributed(operation, &path);
            let outcome = run_distributed(&config, &scene.ground(), &mut member, &mut Quiet);
            member.leave();
            outcome
        })
    };
    let ranks: Vec<_> = deeds.iter().enumerate().map(start).collect();
    ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn what_passes_everywhere_is_timed_and_what_calls_change_is_put_back_before_each_barrier() {
    for operation in ["rms_norm", "fused_add_rms_norm"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        let deeds = if operation == "rms_norm" { [Deed::Right; 3] } else { [Deed::FindsTheSame; 3] };
        let reports = world(operation, &deeds, &path);
        for report in &reports {
            let report = report.as_ref().unwrap();
            let row = &report.rows[0];
            assert_eq!(row.status, RowStatus::Ok, "{operation}: {:?}", row.reason);
            let series = &row.series[0];
            assert_eq!((series.counts.warmup, series.measurement.summary.n), (5, 30));
            assert_eq!((series.measurement.timer, series.measurement.round_us.len()), (Timer::Distributed, 1));
            // The value of a distributed row is the median of its samples.
            assert_eq!(series.measurement.impl_us, series.measurement.summary.median_us);
            validate(report).unwrap();
        }
        assert_eq!(read(&path).unwrap(), *reports[0].as_ref().unwrap());
        assert!(path.with_extension("md").exists() && rank_path(&path, 2).with_extension("md").exists());
    }
}

#[test]
fn what_failed_on_one_rank_is_timed_on_none() {
    for wrong in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        let mut deeds = [Deed::Right; 2];
        deeds[wrong] = Deed::Lazy;
        for report in world("rms_norm", &deeds, &path) {
            let row = &report.unwrap().rows[0];
            assert_eq!((row.status, row.validation.name()), (RowStatus::Fail, "failed"));
            assert!(row.series.is_empty());
            assert!(row.reason.as_ref().unwrap().contains(&format!("rank {wrong}: failed")), "{:?}", row.reason);
        }
        for rank in 0..2 {
            let row = &read(&rank_path(&path, rank)).unwrap().rows[0];
            assert_eq!((row.status, row.series.len()), (RowStatus::Fail, 0));
            assert_eq!(row.validation.name(), if rank == wrong { "failed" } else { "passed" });
        }
    }
}

#[test]
fn a_call_that_fails_among_the_samples_of_one_rank_ends_the_case_on_all() {
    for late in [Deed::FailsAt(10), Deed::PanicsAt(10), Deed::FailsAt(35)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.json");
        for report in world("rms_norm", &[Deed::Right, late], &path) {
            let row = &report.unwrap().rows[0];
            assert_eq!((row.status, row.validation.name()), (RowStatus::Fail, "passed"));
            let reason = row.reason.as_ref().unwrap();
            assert!(row.series.is_empty() && reason.contains("rank 1: ") && reason.contains("tired"), "{reason}");
        }
    }
}

#[test]
fn ranks_with_other_caches_do_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ranks = [0, 1].map(|number| {
        let path = folder.path().join("bench.json");
        std::thread::spawn(move || {
            let address = "127.0.0.1".into();
            let rank = Rank { rank: number, size: 2, local_rank: number, address, port, run: String::new() };
            let mut member = join(&rank, Duration::from_secs(30)).unwrap();
            let mut config = distributed("rms_norm", &path);
            if number == 1 {
                config.caches = vec![Cache::Hot];
            }
            let outcome =
                run_distributed(&config, &Scene::new(Deed::Right, Deed::Right).ground(), &mut member, &mut Quiet);
            member.leave();
            outcome.unwrap_err()
        })
    });
    for rank in ranks {
        let error = rank.join().unwrap();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("caches is `hot` on rank 1, `cold` on rank 0"), "{error}");
    }
}
