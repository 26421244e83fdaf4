// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One attempt at a row: start its process, look at the device until it ends, and read what it reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use opweave_bench::report::read;
use opweave_numerics::Interrupt;

use super::child::{Child, GRACE};
use crate::record::{Attempt, Row, Status, fill};
use crate::telemetry::{INTERVAL, Limits, Own, Probe, Telemetry};
use crate::workload::Entry;

/// What is known of a run before a row, so that the row need not find it out again.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The device's rate of multiply-adds, 10^9 operations per second, if an earlier row measured it.
    pub multiply_add_gflop_per_s: Option<f64>,
    /// References that this machine does not have, with the reason.
    pub absent: &'a BTreeMap<String, String>,
}

impl<'a> Known<'a> {
    /// What these rows measured, and what is absent.
    #[must_use]
    pub fn of(rows: &[Row], absent: &'a BTreeMap<String, String>) -> Known<'a> {
        Known { multiply_add_gflop_per_s: rows.iter().find_map(|row| row.multiply_add_gflop_per_s), absent }
    }
}

/// Makes the command that measures an entry and writes its bench report to a path.
pub type Worker<'a> = &'a dyn Fn(&Entry, &Path, Known<'_>) -> Command;

/// What an attempt needs.
pub(super) struct Scene<'a> {
    pub(super) worker: Worker<'a>,
    pub(super) limits: Limits,
    pub(super) stop: &'a Interrupt,
    /// Folder of logs and reports.
    pub(super) folder: &'a Path,
    /// The device that was leased.
    pub(super) uuid: &'a str,
    /// Whether only this device can be meant, because rows tell no other.
    pub(super) trusts_uuid: bool,
}

/// Why the process was ended before it was done.
enum Cut {
    Deadline,
    Cancelled,
    Disturbed(String),
}

/// Measures `entry` once and fills `row` in.
pub(super) fn attempt(
    scene: &Scene<'_>,
    entry: &Entry,
    (number, known): (usize, Known<'_>),
    probe: &mut dyn Probe,
    row: &mut Row,
) {
    let stem = format!("{}.{}.{number}", entry.kernel, entry.label);
    let report = scene.folder.join(format!("{stem}.json"));
    let log = scene.folder.join(format!("{stem}.log"));
    // What an earlier run of this id left must not pass for this one's.
    let _ = std::fs::remove_file(&report);
    let start = Instant::now();
    let mut telemetry = Telemetry::default();
    let outcome = watch(scene, entry, (scene.worker)(entry, &report, known), &log, probe, &mut telemetry);
    row.elapsed_s = start.elapsed().as_secs_f64();
    let (attempts, marks) = (std::mem::take(&mut row.attempts), telemetry.marks());
    let mut fresh = Row::blank(&row.planned(), &row.device, Status::Fail, None);
    fresh.elapsed_s = row.elapsed_s;
    fresh.attempts = attempts;
    fresh.marks = marks;
    conclude(scene, entry, outcome, (&report, known), &log, &mut fresh);
    if telemetry.always_capped() && fresh.no_verdict.is_none() {
        fresh.no_verdict = Some("the clocks were capped all the time".to_owned());
    }
    fresh.attempts.push(Attempt {
        status: fresh.status,
        reason: fresh.reason.clone(),
        elapsed_s: fresh.elapsed_s,
        telemetry,
        log: log.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    });
    let _ = std::fs::remove_file(&report);
    let _ = std::fs::remove_file(report.with_extension("md"));
    *row = fresh;
}

struct Watched {
    cut: Option<Cut>,
    code: Option<i32>,
}

fn watch(
    scene: &Scene<'_>,
    entry: &Entry,
    command: Command,
    log: &Path,
    probe: &mut dyn Probe,
    telemetry: &mut Telemetry,
) -> Result<Watched, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = Child::start(command, log).map_err(|e| format!("failed to start {program}: {e}"))?;
    let own = Own { group: Some(child.group()) };
    let start = Instant::now();
    let deadline = Duration::from_secs_f64(entry.deadline_s);
    let mut looked = Instant::now();
    let mut look = |telemetry: &mut Telemetry| match probe.look(&own) {
        Ok(seen) => {
            telemetry.add(&seen);
            scene.limits.judge(&seen)
        }
        Err(error) => {
            telemetry.looks += 1;
            telemetry.failed += 1;
            tracing::debug!(%error, "a look failed");
            None
        }
    };
    // The first look begins the interval: what the process does from its start on is its own.
    let mut cut = look(telemetry).map(Cut::Disturbed);
    while cut.is_none() {
        if child.wait(Duration::from_millis(20)).map_err(|e| format!("failed to wait for {program}: {e}"))? {
            // Looked at once more after the end: who came in the last half second was there as well.
            cut = look(telemetry).map(Cut::Disturbed);
            break;
        }
        if scene.stop.requested() {
            cut = Some(Cut::Cancelled);
        } else if start.elapsed() >= deadline {
            cut = Some(Cut::Deadline);
        } else if looked.elapsed() >= INTERVAL {
            looked = Instant::now();
            cut = look(telemetry).map(Cut::Disturbed);
        }
    }
    child.end(GRACE);
    Ok(Watched { cut, code: child.status().and_then(|status| status.code()) })
}

fn conclude(
    scene: &Scene<'_>,
    entry: &Entry,
    outcome: Result<Watched, String>,
    (path, known): (&Path, Known<'_>),
    log: &Path,
    row: &mut Row,
) {
    let watched = match outcome {
        Ok(watched) => watched,
        Err(reason) => {
            row.reason = Some(reason);
            return;
        }
    };
    match read(path) {
        Ok(report) => {
            fill(row, entry, &report, known.absent);
            let opened = &report.environment.device.uuid;
            if !scene.trusts_uuid && opened.as_deref() != Some(scene.uuid) {
                let opened = opened.as_deref().unwrap_or("a device without identity");
                row.impls.clear();
                (row.ratio, row.ratio_rounds) = (None, Vec::new());
                (row.status, row.reason) =
                    (Status::Fail, Some(format!("its process opened {opened}, leased is {}", scene.uuid)));
                return;
            }
        }
        Err(error) => row.reason = Some(format!("failed to {error}; {}", last_words(log))),
    }
    match watched.cut {
        None if row.status == Status::Fail && row.reason.is_none() => {
            row.reason = Some(format!("its process ended with {:?}; {}", watched.code, last_words(log)));
        }
        None => {}
        Some(Cut::Cancelled) => {
            (row.status, row.reason) = (Status::Cancelled, Some("the run was cancelled".to_owned()))
        }
        Some(Cut::Deadline) => {
            (row.status, row.reason) =
                (Status::TimedOut, Some(format!("it was not done after {} s; {}", entry.deadline_s, last_words(log))));
        }
        // What this machine lacks it lacks, whoever else was there.
        Some(Cut::Disturbed(_)) if matches!(row.status, Status::Skip) => {}
        Some(Cut::Disturbed(what)) => (row.status, row.reason) = (Status::Interfered, Some(what)),
    }
}

/// The end of a log, to explain an end.
fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    let last: Vec<String> = lines.into_iter().rev().map(|line| line.chars().take(200).collect()).collect();
    if last.is_empty() { format!("{} is empty", log.display()) } else { last.join(" | ") }
}
