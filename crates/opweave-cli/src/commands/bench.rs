// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave bench`.

use std::path::PathBuf;

use opweave_bench::caches::host_caches;
use opweave_bench::measurement::Cache;
use opweave_bench::report::{BenchReport, CacheSizes, RowStatus, RunStatus, table};
use opweave_bench::run::{
    BenchConfig, BenchError, BenchGround, BenchProgress, Quiet, listed, run as run_bench, run_distributed, succeeded,
};
use opweave_device::{DeviceKind, Instruments};
use opweave_numerics::RunError;
use opweave_numerics::suite::SuiteSet;
use opweave_ranks::Rank;

use super::ground::{Base, config, output};
use super::ranks;
use crate::args::{BenchArgs, SelectArgs};
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
    // Sets of arguments and what ceilings are measured in come after each other: the second need not be cleared by the system.
    opweave_device::cpu::keep_freed_memory();
    if args.leash {
        opweave_suite::runner::hold_leash();
    }
    let rank = ranks::asked(&args.select)?;
    let numbers = args.protocol();
    let protocol = if rank.is_some() { numbers.distributed() } else { numbers.resolve() };
    let protocol = protocol.map_err(|e| Failure::usage(format_args!("failed to {e}")));
    let protocol = ranks::or_tell(rank.as_ref(), &args.select, protocol)?;
    let mut config = BenchConfig {
        selectors: config(&args.select, suite_arguments, output(&args.select, "bench")),
        protocol,
        baseline: args.baseline.clone(),
        references: args.reference.clone(),
        reference_cache: reference_cache()?,
        // Cold first: a hot series leaves the caches full of its own inputs.
        caches: args.cache.map_or_else(|| vec![Cache::Cold, Cache::Hot], |only| vec![only]),
        timer: args.timer,
        multiply_add_gflop_per_s: args.multiply_add,
        command: std::env::args().collect(),
    };
    let base = ranks::or_tell(rank.as_ref(), &args.select, Base::new(&args.select))?;
    let instruments = match solutions::instruments(base.device()) {
        Ok(instruments) => Some(instruments),
        Err(reason) => {
            tracing::warn!("there are no ceilings for {}: {reason}", base.device());
            None
        }
    };
    let caches = caches(base.device().kind, instruments.as_deref());
    let ground = BenchGround { numerics: base.ground(suites), instruments: instruments.as_deref(), caches: &caches };
    if args.select.list {
        for line in listed(&config, &ground).map_err(failed)? {
            out.line(line)?;
        }
        return Ok(Exit::Good);
    }
    let report = match &rank {
        None => run_bench(&config, &ground, &mut Drawn::new()).map_err(failed)?,
        Some(rank) => together(rank, &args.select, &mut config, &ground)?,
    };
    let good = succeeded(&report.rows);
    // What all ranks came to is said once.
    if rank.is_some_and(|rank| rank.rank != 0) {
        return Ok(ended(report.status, good));
    }
    if args.select.json {
        out.json(&report)?;
    } else {
        out.line(table(&report, out.width()))?;
        conclude(&report, good, out)?;
        if let Some(path) = &config.selectors.output {
            out.line(format_args!("report: {}", path.display()))?;
        }
    }
    Ok(ended(report.status, good))
}

fn failed(error: BenchError) -> Failure {
    let text = anyhow::anyhow!("failed to {error}");
    if error.exit_code() == 2 { Failure::Usage(text) } else { Failure::Broken(text) }
}

/// The exit code, which is the same on all ranks.
fn ended(status: RunStatus, good: bool) -> Exit {
    match status {
        RunStatus::Interrupted => Exit::Interrupted,
        _ if good => Exit::Good,
        _ => Exit::Bad,
    }
}

/// Runs as one of several ranks.
fn together(
    rank: &Rank,
    args: &SelectArgs,
    config: &mut BenchConfig,
    ground: &BenchGround<'_>,
) -> Result<BenchReport, Failure> {
    let mut member = ranks::join(rank, args)?;
    config.selectors.output = Some(ranks::output(args, "bench", &mut member)?);
    let (mut drawn, mut quiet) = (Drawn::new(), Quiet);
    let progress: &mut dyn BenchProgress = if rank.rank == 0 { &mut drawn } else { &mut quiet };
    let outcome = run_distributed(config, ground, &mut member, progress);
    let together = |error: &RunError| matches!(error, RunError::Disagreement(_) | RunError::Record { .. });
    if matches!(&outcome, Err(BenchError::Selectors(error)) if together(error)) || outcome.is_ok() {
        member.leave();
    }
    outcome.map_err(failed)
}

/// Where adapters keep what they compile: an absolute folder, since they may run elsewhere.
pub(super) fn reference_cache() -> Result<PathBuf, Failure> {
    let folder =
        std::env::var_os("OPWEAVE_BENCH_CACHE_DIR").map_or_else(|| ".opweave/references".into(), PathBuf::from);
    let absolute = std::path::absolute(&folder);
    absolute.map_err(|e| Failure::Broken(anyhow::anyhow!("failed to find {}: {e}", folder.display())))
}

/// The system's word on the caches, or the instruments' where it is silent or speaks of another device's.
fn caches(kind: DeviceKind, instruments: Option<&dyn Instruments>) -> CacheSizes {
    let mut caches = host_caches();
    let measured = instruments.and_then(Instruments::last_level_cache);
    if let Some(bytes) = measured.filter(|bytes| kind != DeviceKind::Cpu || *bytes > caches.last_level_bytes) {
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
