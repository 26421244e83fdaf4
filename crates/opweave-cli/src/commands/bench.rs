// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave bench`.

use std::path::PathBuf;

use opweave_bench::caches::host_caches;
use opweave_bench::measurement::Cache;
use opweave_bench::report::{BenchReport, CacheSizes, RowStatus, RunStatus, table};
use opweave_bench::run::{BenchConfig, BenchError, BenchGround, listed, run as run_bench, succeeded};
use opweave_device::Instruments;
use opweave_numerics::suite::SuiteSet;

use super::ground::{Base, config, output};
use crate::args::BenchArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone};
use crate::progress::Drawn;
use crate::solutions;

/// Validates and times; exit 0 only if something was timed and nothing went wrong.
pub(crate) fn run(
    args: &BenchArgs,
    suites: &SuiteSet,
    suite_arguments: Vec<(String, String)>,
    out: &mut Output,
) -> Result<Exit, Failure> {
    if args.leash {
        opweave_suite::runner::hold_leash();
    }
    let protocol = args.protocol().resolve().map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    let path = output(&args.select, "bench");
    let config = BenchConfig {
        selectors: config(&args.select, suite_arguments, path.clone()),
        protocol,
        baseline: args.baseline.clone(),
        references: args.reference.clone(),
        reference_cache: reference_cache()?,
        // Cold first: a hot series leaves the caches full of its own inputs.
        caches: args.cache.map_or_else(|| vec![Cache::Cold, Cache::Hot], |only| vec![only]),
        timer: args.timer,
        command: std::env::args().collect(),
    };
    let base = Base::new(&args.select)?;
    let instruments = match solutions::instruments(base.device()) {
        Ok(instruments) => Some(instruments),
        Err(reason) => {
            tracing::warn!("there are no ceilings for {}: {reason}", base.device());
            None
        }
    };
    let caches = caches(instruments.as_deref());
    let ground = BenchGround { numerics: base.ground(suites), instruments: instruments.as_deref(), caches: &caches };
    let failed = |error: BenchError| {
        let text = anyhow::anyhow!("failed to {error}");
        if error.exit_code() == 2 { Failure::Usage(text) } else { Failure::Broken(text) }
    };
    if args.select.list {
        for line in listed(&config, &ground).map_err(failed)? {
            out.line(line)?;
        }
        return Ok(Exit::Good);
    }
    let report = run_bench(&config, &ground, &mut Drawn::new()).map_err(failed)?;
    let good = succeeded(&report.rows);
    if args.select.json {
        out.json(&report)?;
    } else {
        out.line(table(&report, out.width()))?;
        conclude(&report, good, out)?;
        out.line(format_args!("report: {}", path.display()))?;
    }
    Ok(match report.status {
        RunStatus::Interrupted => Exit::Interrupted,
        _ if good => Exit::Good,
        _ => Exit::Bad,
    })
}

/// Where adapters keep what they compile: an absolute folder, since they may run elsewhere.
fn reference_cache() -> Result<PathBuf, Failure> {
    let folder =
        std::env::var_os("OPWEAVE_BENCH_CACHE_DIR").map_or_else(|| ".opweave/references".into(), PathBuf::from);
    let absolute = std::path::absolute(&folder);
    absolute.map_err(|e| Failure::Broken(anyhow::anyhow!("failed to find {}: {e}", folder.display())))
}

/// The system's word on the caches, or the instruments' where it is silent.
fn caches(instruments: Option<&dyn Instruments>) -> CacheSizes {
    let mut caches = host_caches();
    if let Some(bytes) = instruments.and_then(Instruments::last_level_cache).filter(|b| *b > caches.last_level_bytes) {
        caches.last_level_bytes = bytes;
        caches.source.push_str(", last level by the instruments");
    }
    caches
}

fn conclude(report: &BenchReport, good: bool, out: &mut Output) -> Result<(), Failure> {
    let count = |status| report.rows.iter().filter(|row| row.status == status).count();
    let ok = count(RowStatus::Ok);
    let mut parts = vec![format!("{ok} timed")];
    for (status, word) in [
        (RowStatus::Skip, "skipped"),
        (RowStatus::Fail, "failed"),
        (RowStatus::BaselineError, "without their baseline"),
        (RowStatus::TimedOut, "timed out"),
        (RowStatus::Cancelled, "cancelled"),
    ] {
        if count(status) > 0 {
            parts.push(format!("{} {word}", count(status)));
        }
    }
    let tone = match (report.status, good) {
        (RunStatus::Interrupted, _) => Tone::Warn,
        (_, true) => Tone::Good,
        (_, false) => Tone::Bad,
    };
    let parts = out.tone(tone, &parts.join(", "));
    out.line(format_args!("{parts} in {:.0} s", report.elapsed_s))?;
    if report.environment.build == "debug" {
        let note = out.tone(Tone::Warn, "note: a debug build; its times say nothing about a release build");
        out.line(note)?;
    }
    Ok(())
}
