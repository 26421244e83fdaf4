// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `opweave suite`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opweave_bench::protocol::ProtocolOptions;
use opweave_bench::run::greet;
use opweave_numerics::report::{Environment, compiler};
use opweave_numerics::suite::{DynCase, Glob, SuiteSet};
use opweave_suite::baseline::{Options, judge, render};
use opweave_suite::record::{
    Planned, RUN_KIND, Run, RunState, SCHEMA_VERSION, Status, merge_shards, read_run, write_run,
};
use opweave_suite::runner::{Config, Ground, Known, Outcome, next_id, run as run_suite};
use opweave_suite::workload::{Entry, Filter, Sweep, check, flat, sweep};

use super::suite_device::Found;
use super::suite_files::{base, find_run};
use crate::args::{SuiteArgs, SuiteCommand};
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone};
use crate::progress::SuiteDrawn;
use crate::{interrupt, solutions};

/// The longest that a reference may take to say who it is: some import gigabytes of libraries first.
const GREETING: Duration = Duration::from_secs(120);

/// Measures the workloads; exit 0 only if all are measured or do not apply, 3 if one fell against the baseline.
pub(crate) fn run(args: &SuiteArgs, suites: &SuiteSet, out: &mut Output) -> Result<Exit, Failure> {
    if let Some(SuiteCommand::Merge { shards, runs }) = &args.command {
        return merge(shards, runs, out);
    }
    // Each rank would wait for the device that another holds.
    if !args.check {
        super::ranks::alone()?;
    }
    let (entries, listed) = entries(args, suites, out)?;
    let Some(entries) = entries else { return Ok(Exit::Usage) };
    if args.check {
        let what = out.tone(Tone::Good, "workloads are good");
        out.line(format_args!("{what}: {} of {} operators", entries.len(), suites.operations().count()))?;
        return Ok(Exit::Good);
    }
    let filter = Filter {
        all: args.all,
        kernel: args.kernel.as_ref().map(Glob::new),
        label: args.label.as_ref().map(Glob::new),
        shard: args.shard,
    };
    let sweep = sweep(entries, &filter, listed).map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    let found = Found::new(&args.device, args.threads)?;
    // The baseline is read before anything is timed: a wrong name costs no half hour.
    let base = args.against.as_ref().map(|asked| base(args, asked, &found)).transpose()?.flatten();
    let mut run = match &args.resume {
        Some(which) => resumed(args, which, &sweep, &found)?,
        None => blank(args, &sweep, &found)?,
    };
    let outcome = measure(args, &sweep.entries, found, &mut run)?;
    if args.json {
        out.json(&run)?;
    } else {
        conclude(&run, args, out)?;
    }
    let exit = match outcome {
        Outcome::Good => Exit::Good,
        Outcome::Failed => Exit::Bad,
        Outcome::Cancelled => Exit::Interrupted,
    };
    let Some(base) = base else { return Ok(exit) };
    let options = Options { threshold: args.threshold / 100.0, table_only: false };
    let judgement = judge(&base, &run, &options).map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    if args.json {
        eprint!("{}", render(&judgement));
    } else {
        out.text(&render(&judgement))?;
        let (tone, word) = if judgement.regressed { (Tone::Bad, "regressed") } else { (Tone::Good, "no regression") };
        let word = out.tone(tone, word);
        out.line(word)?;
    }
    Ok(if judgement.regressed { Exit::Regressed } else { exit })
}

/// The workloads, or `None` after findings were printed.
fn entries(args: &SuiteArgs, suites: &SuiteSet, out: &mut Output) -> Result<(Option<Vec<Entry>>, bool), Failure> {
    if let Some(path) = &args.workloads {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Failure::usage(format_args!("failed to read workloads {}: {e}", path.display())))?;
        let entries = flat(path, &text).map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
        for entry in &entries {
            known(suites, entry)?;
        }
        return Ok((Some(entries), true));
    }
    let runtime = solutions::runtime();
    let registry = solutions::registry(&runtime)?;
    let choose = |case: &dyn DynCase, device: &str| -> Result<String, String> {
        let key = device.parse().map_err(|e| format!("device `{device}`: {e}"))?;
        let (problem, buckets) = (case.problem(), opweave_registry::Buckets::none());
        let (mode, demands) = (opweave_registry::ExecutionMode::Eager, opweave_runtime::Demands::default());
        let operation = case.info().operation;
        let all =
            opweave_runtime::explain(&registry, operation, Some(&problem), &buckets, &key, mode, demands, None, None);
        match all.into_iter().next().map(|e| e.outcome) {
            Some(Ok((name, _))) => Ok(name),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("selection has no answer".to_owned()),
        }
    };
    let (entries, findings) = check(&args.suites, suites, Some(&choose));
    if findings.is_empty() {
        return Ok((Some(entries), false));
    }
    for finding in &findings {
        out.line(finding)?;
    }
    let word = out.tone(Tone::Bad, &format!("{} findings in the workload files", findings.len()));
    out.line(word)?;
    Ok((None, false))
}

/// Refuses an entry of a flat list that names nothing.
fn known(suites: &SuiteSet, entry: &Entry) -> Result<(), Failure> {
    let Some(suite) = suites.get(&entry.kernel) else {
        let known: Vec<&str> = suites.operations().collect();
        return Err(crate::names::unknown("operation", &entry.kernel, &known));
    };
    let cases = suite.bench_cases(&[]).map_err(Failure::usage)?;
    let labels: Vec<String> = cases.iter().map(|case| case.info().label).collect();
    if labels.contains(&entry.label) {
        return Ok(());
    }
    let known: Vec<&str> = labels.iter().map(String::as_str).collect();
    Err(crate::names::unknown(&format!("bench case of `{}`", entry.kernel), &entry.label, &known))
}

fn blank(args: &SuiteArgs, sweep: &Sweep, found: &Found) -> Result<Run, Failure> {
    let options = ProtocolOptions { rounds: args.rounds, cooldown_s: args.cooldown, ..ProtocolOptions::default() };
    let protocol = options.resolve().map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    let environment = Environment::probe(None, None);
    let planned = sweep.entries.iter().map(|e| Planned { kernel: e.kernel.clone(), label: e.label.clone() });
    Ok(Run {
        schema_version: SCHEMA_VERSION,
        kind: RUN_KIND.to_owned(),
        id: next_id(&args.runs),
        state: RunState::Running,
        command: std::env::args().collect(),
        started_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        elapsed_s: 0.0,
        device: found.identity.clone(),
        threads: found.threads,
        driver: found.driver.clone(),
        caches: found.caches.clone(),
        leased: false,
        admitted_work: args.admit,
        protocol,
        partial: sweep.partial.clone(),
        shard: args.shard.map(|shard| shard.to_string()),
        whole: sweep.whole,
        revision: environment.revision,
        dirty: environment.dirty,
        build: environment.build,
        planned: planned.collect(),
        rows: Vec::new(),
    })
}

/// The run to go on with. What is asked for now must be what was asked for then, of the same source on the same device.
fn resumed(args: &SuiteArgs, which: &str, sweep: &Sweep, found: &Found) -> Result<Run, Failure> {
    let path = if which.is_empty() { latest(&args.runs)? } else { find_run(&args.runs, Path::new(which))? };
    let mut old = read_run(&path).map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    let new = blank(args, sweep, found)?;
    for (field, was, is) in [
        ("device", &old.device.name, &new.device.name),
        (
            "revision",
            &format!("{:?} dirty {:?}", old.revision, old.dirty),
            &format!("{:?} dirty {:?}", new.revision, new.dirty),
        ),
        ("build", &old.build, &new.build),
        ("protocol", &format!("{:?}", old.protocol), &format!("{:?}", new.protocol)),
        ("plan", &format!("{:?}", old.planned), &format!("{:?}", new.planned)),
        ("admitted work", &format!("{:?}", old.admitted_work), &format!("{:?}", new.admitted_work)),
        ("threads", &format!("{:?}", old.threads), &format!("{:?}", new.threads)),
    ] {
        if was != is {
            return Err(Failure::usage(format_args!("failed to resume {}: its {field} was {was}, it is {is}", old.id)));
        }
    }
    old.device = new.device;
    old.resume();
    Ok(old)
}

fn latest(runs: &Path) -> Result<PathBuf, Failure> {
    let newest = std::fs::read_dir(runs).ok().and_then(|entries| {
        let json = entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "json"));
        json.max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok())
    });
    newest.ok_or_else(|| Failure::usage(format_args!("there is no run in {} to resume", runs.display())))
}

fn measure(args: &SuiteArgs, entries: &[Entry], found: Found, run: &mut Run) -> Result<Outcome, Failure> {
    let stop = interrupt::install()?;
    let binary = std::env::current_exe()?;
    let protocol = run.protocol.clone();
    let compiler = compiler();
    let program = |reference: &str| args.suites.join("references").join(format!("{reference}.py"));
    let worker = |entry: &Entry, report: &Path, known: Known<'_>| {
        let mut command = Command::new(&binary);
        command.args(["bench", "--leash", "--tier", "full", "--operation", &entry.kernel, "--label", &entry.label]);
        command.args(["--device", &args.device, "--cache", entry.cache.name()]);
        // The suite knows source and compiler; asking for them in each process would take longer than a small row.
        command.args(["--revision", run.revision.as_deref().unwrap_or("unknown"), "--rustc", &compiler]);
        command.args(["--threads", &args.threads.to_string(), "--rounds", &protocol.rounds.to_string()]);
        command.args(["--cooldown", &protocol.cooldown_s.to_string()]).arg("--output").arg(report);
        if let Some(rate) = known.multiply_add_gflop_per_s {
            command.args(["--multiply-add", &rate.to_string()]);
        }
        if let Some(timer) = args.timer.or(entry.timer) {
            command.args(["--timer", timer.name()]);
        }
        for (option, value) in [("--warmup-ms", entry.warmup_ms), ("--repeat-ms", entry.repeat_ms)] {
            command.args(value.map(|ms| [option.to_owned(), ms.to_string()]).into_iter().flatten());
        }
        let named = entry.references.iter().chain(&entry.optional_references);
        for reference in named.filter(|&name| !known.absent.contains_key(name)) {
            if registered(reference) {
                command.args(["--baseline", reference]);
            } else {
                command.arg("--reference").arg(program(reference));
            }
        }
        command
    };
    let cache = super::bench::reference_cache()?;
    // What is registered, or no file, is the row's own to judge.
    let greet = |reference: &str| match program(reference) {
        file if !registered(reference) && file.is_file() => greet(&file, &cache, &args.device, GREETING),
        _ => Ok(()),
    };
    let mut config = Config::new(args.runs.join(format!("{}.json", run.id)));
    config.keep_going = args.keep_going;
    config.lease_limit = Duration::from_secs(args.lease_limit);
    config.free_limit = Duration::from_secs(args.free_limit);
    if args.no_lease {
        config.locks = None;
    }
    let Found { mut probe, mut limits, trusts_uuid, .. } = found;
    if let Some(work) = args.admit {
        (limits.work, limits.steal) = (work, 1.0);
    }
    let ground = Ground { worker: &worker, greet: &greet, probe: &mut *probe, limits, stop: &stop, trusts_uuid };
    let mut current = run.clone();
    let outcome = run_suite(&mut current, entries, &config, ground, &mut SuiteDrawn::new());
    *run = current;
    outcome.map_err(|e| Failure::Broken(anyhow::anyhow!("failed to {e}")))
}

/// Whether a reference is an implementation of ours, not a program.
fn registered(reference: &str) -> bool {
    reference.contains('.')
}

fn conclude(run: &Run, args: &SuiteArgs, out: &mut Output) -> Result<(), Failure> {
    let mut parts = Vec::new();
    for status in Status::ALL {
        let count = run.rows.iter().filter(|row| row.status == status).count();
        if count > 0 {
            parts.push(format!("{count} {status}"));
        }
    }
    let left = run.planned.len().saturating_sub(run.rows.len());
    if left > 0 {
        parts.push(format!("{left} not attempted"));
    }
    let good = run.rows.iter().all(|row| row.status.is_acceptable()) && left == 0;
    let words = out.tone(if good { Tone::Good } else { Tone::Bad }, &parts.join(", "));
    out.line(format_args!("{words} in {:.0} s", run.elapsed_s))?;
    if run.build == "debug" {
        let note = out.tone(Tone::Warn, "note: a debug build; its times say nothing about a release build");
        out.line(note)?;
    }
    out.line(format_args!("run: {}", args.runs.join(format!("{}.json", run.id)).display()))
}

fn merge(shards: &[PathBuf], runs: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let read = |shard: &PathBuf| {
        let path = find_run(runs, shard)?;
        read_run(&path).map_err(|e| Failure::usage(format_args!("failed to {e}")))
    };
    let parts = shards.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let merged = merge_shards(&parts, &next_id(runs)).map_err(|e| Failure::usage(format_args!("failed to {e}")))?;
    let path = runs.join(format!("{}.json", merged.id));
    write_run(&merged, &path).map_err(|e| Failure::Broken(anyhow::anyhow!("failed to {e}")))?;
    let what = merged.partial.as_ref().map_or_else(|| "whole".to_owned(), |why| format!("partial: {why}"));
    out.line(format_args!("{} rows of {} shards, {what}", merged.rows.len(), parts.len()))?;
    out.line(format_args!("run: {}", path.display()))?;
    Ok(Exit::Good)
}
