// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The sweep: rows in order, those that were disturbed again later, until all have an outcome or one fails.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use opweave_numerics::Interrupt;
use thiserror::Error;

use super::attempt::{Known, Scene, Worker, attempt};
use crate::lease::{Folder, Lease, LeaseError, lease};
use crate::record::{Planned, RecordError, Row, Run, RunState, Status, write_run};
use crate::telemetry::{Limits, Own, Probe};
use crate::workload::Entry;

/// Attempts at a row that others disturb.
const ATTEMPTS: usize = 5;
/// First wait after a disturbance; each further one is twice as long.
const BACK_OFF: Duration = Duration::from_secs(2);
/// Longest time that a device may keep the suite waiting before it is free.
const FREE_LIMIT: Duration = Duration::from_secs(600);

/// How a run goes about its rows.
#[derive(Clone, Debug)]
pub struct Config {
    /// Go on after a failure.
    pub keep_going: bool,
    /// Folder of the locks; `None` goes without a lease, and the run says so.
    pub locks: Option<PathBuf>,
    /// Longest wait for a lease.
    pub lease_limit: Duration,
    /// Where the run's file goes; logs go into a folder beside it.
    pub path: PathBuf,
    /// First wait after a disturbance.
    pub back_off: Duration,
    /// Longest wait for a device that others use.
    pub free_limit: Duration,
    /// Attempts at a row.
    pub attempts: usize,
}

impl Config {
    /// The usual numbers, for a run with its file at `path`.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Config {
            keep_going: false,
            locks: Some(crate::lease::folder()),
            lease_limit: Duration::from_secs(3600),
            path,
            back_off: BACK_OFF,
            free_limit: FREE_LIMIT,
            attempts: ATTEMPTS,
        }
    }
}

/// What a run stands on.
pub struct Ground<'a> {
    /// Makes a row's process.
    pub worker: Worker<'a>,
    /// Says why a reference cannot be had on this machine. Asked once for each, or every row would find it out anew.
    pub greet: &'a dyn Fn(&str) -> Result<(), String>,
    /// Looks at the device.
    pub probe: &'a mut dyn Probe,
    /// What disturbs.
    pub limits: Limits,
    /// Who may stop the run.
    pub stop: &'a Interrupt,
    /// Whether reports of rows name no identity, as those of a CPU do.
    pub trusts_uuid: bool,
}

/// What a run tells while it goes on. Every method has an empty default.
pub trait Progress {
    /// The run begins with so many rows, of which some are there already.
    fn started(&mut self, _rows: usize, _there: usize) {}
    /// Something keeps it waiting.
    fn waiting(&mut self, _what: &str) {}
    /// An attempt begins.
    fn attempt(&mut self, _planned: &Planned, _number: usize) {}
    /// A row has its outcome; `left` is estimated from the rows so far.
    fn done(&mut self, _row: &Row, _left: Duration) {}
    /// A row was disturbed and comes again.
    fn again(&mut self, _row: &Row) {}
    /// The run is over.
    fn finished(&mut self) {}
}

/// Tells nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {}

/// Why a run did not begin or cannot be recorded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// No lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The device cannot be sampled, or others use it.
    #[error("find the device free: {0}")]
    Busy(String),
    /// The file cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All rows are measured or do not apply, and one was measured.
    Good,
    /// A row failed.
    Failed,
    /// The user ended it.
    Cancelled,
}

/// Measures what `run` plans and has not got yet, and writes its file after each row.
///
/// # Errors
/// [`RunError`] before the first row. What goes wrong with a row is in the run.
pub fn run(
    run: &mut Run,
    entries: &[Entry],
    config: &Config,
    ground: Ground<'_>,
    progress: &mut dyn Progress,
) -> Result<Outcome, RunError> {
    let Ground { worker, greet, probe, limits, stop, trusts_uuid } = ground;
    let start = Instant::now();
    let before_s = run.elapsed_s;
    // A place that cannot be written is found out before the run.
    write_run(run, &config.path)?;
    progress.started(run.planned.len(), run.rows.len());
    let held: Option<Lease> = match &config.locks {
        Some(path) => {
            let folder = Folder::open(path)?;
            let devices = [run.device.uuid.clone()];
            Some(lease(&folder, &devices, config.lease_limit, stop, &mut |who| progress.waiting(who))?)
        }
        None => None,
    };
    run.leased = held.is_some() && (run.rows.is_empty() || run.leased);
    free(probe, &limits, config, stop, progress)?;
    let folder = config.path.with_extension("");
    let scene = Scene { worker, limits, stop, folder: &folder, uuid: &run.device.uuid.clone(), trusts_uuid };
    let mut left: VecDeque<(&Entry, Row)> = entries
        .iter()
        .map(|entry| (entry, Planned { kernel: entry.kernel.clone(), label: entry.label.clone() }))
        .filter(|(_, planned)| run.rows.iter().all(|row| row.planned() != *planned))
        .map(|(entry, planned)| (entry, Row::blank(&planned, &run.device, Status::Cancelled, None)))
        .collect();
    let absent = absent(left.iter().map(|(entry, _)| *entry), greet, progress);
    let mut measured = Pace::default();
    let mut outcome = None;
    while let Some((entry, mut row)) = left.pop_front() {
        if stop.requested() {
            (row.status, row.reason) = (Status::Cancelled, Some("the run was cancelled".to_owned()));
            outcome = Some(Outcome::Cancelled);
        } else {
            let number = row.attempts.len() + 1;
            if let Some(last) = row.attempts.last().filter(|_| left.iter().all(|(_, row)| !row.attempts.is_empty())) {
                // Only disturbed rows are left: waiting is all that can be done.
                let wait = config.back_off * 2_u32.pow((row.attempts.len() as u32).saturating_sub(1).min(6));
                progress.waiting(&format!("{}: {}", row.planned(), last.reason.clone().unwrap_or_default()));
                pause(wait, stop);
            }
            progress.attempt(&row.planned(), number);
            attempt(&scene, entry, (number, Known::of(&run.rows, &absent)), probe, &mut row);
            measured.add(row.elapsed_s);
            (row.revision, row.dirty) = (run.revision.clone(), run.dirty);
        }
        if row.status == Status::Interfered && row.attempts.len() < config.attempts && !stop.requested() {
            progress.again(&row);
            left.push_back((entry, row));
            continue;
        }
        if row.status == Status::Interfered {
            let last = row.reason.take().unwrap_or_default();
            row.reason = Some(format!("others disturbed each of {} attempts, at last: {last}", row.attempts.len()));
        }
        if !run.leased {
            row.marks.push("no lease".to_owned());
        }
        if row.status == Status::Cancelled {
            outcome = Some(Outcome::Cancelled);
        } else if !row.status.is_acceptable() {
            outcome = outcome.or(Some(Outcome::Failed));
        }
        progress.done(&row, measured.left(left.len()));
        run.rows.push(row);
        run.elapsed_s = before_s + start.elapsed().as_secs_f64();
        write_run(run, &config.path)?;
        if outcome == Some(Outcome::Cancelled) || (outcome.is_some() && !config.keep_going) {
            break;
        }
    }
    progress.finished();
    run.state = if run.rows.len() >= run.planned.len() { RunState::Complete } else { RunState::Stopped };
    write_run(run, &config.path)?;
    drop(held);
    let failed = run.rows.iter().any(|row| !row.status.is_acceptable());
    let some = run.rows.iter().any(|row| row.status == Status::Ok);
    Ok(match outcome {
        Some(Outcome::Cancelled) => Outcome::Cancelled,
        _ if failed || !some => Outcome::Failed,
        _ => Outcome::Good,
    })
}

/// The references of these entries that cannot be had, with the reasons.
fn absent<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    greet: &dyn Fn(&str) -> Result<(), String>,
    progress: &mut dyn Progress,
) -> BTreeMap<String, String> {
    let names: BTreeSet<&String> = entries.flat_map(|e| e.references.iter().chain(&e.optional_references)).collect();
    let reason = |name: &String| {
        progress.waiting(&format!("reference {name} is asked whether it is there"));
        Some((name.clone(), greet(name).err()?))
    };
    names.into_iter().filter_map(reason).collect()
}

/// Waits until nobody else is on the device: two looks, half a second apart, that see nothing.
fn free(
    probe: &mut dyn Probe,
    limits: &Limits,
    config: &Config,
    stop: &Interrupt,
    progress: &mut dyn Progress,
) -> Result<(), RunError> {
    let start = Instant::now();
    let mut told = false;
    while !stop.requested() {
        let look = |probe: &mut dyn Probe| probe.look(&Own::default()).map_err(|e| RunError::Busy(e.to_string()));
        look(probe)?;
        pause(crate::telemetry::INTERVAL, stop);
        let Some(what) = limits.judge(&look(probe)?) else { return Ok(()) };
        if start.elapsed() >= config.free_limit {
            return Err(RunError::Busy(what));
        }
        if !told {
            progress.waiting(&what);
            told = true;
        }
    }
    // Whoever cancels meanwhile gets a run of cancelled rows.
    Ok(())
}

fn pause(wait: Duration, stop: &Interrupt) {
    let start = Instant::now();
    while start.elapsed() < wait && !stop.requested() {
        std::thread::sleep(Duration::from_millis(20).min(wait));
    }
}

/// How long rows take.
#[derive(Default)]
struct Pace {
    seconds: f64,
    rows: u32,
}

impl Pace {
    fn add(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.rows += 1;
    }

    fn left(&self, rows: usize) -> Duration {
        Duration::from_secs_f64(self.seconds / f64::from(self.rows.max(1)) * rows as f64)
    }
}

/// A name for a run that no other has: the time, and the process.
#[must_use]
pub fn next_id(folder: &Path) -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let id = format!("{seconds}-{}", std::process::id());
    if !folder.join(format!("{id}.json")).exists() {
        return id;
    }
    (1..).map(|n| format!("{id}-{n}")).find(|id| !folder.join(format!("{id}.json")).exists()).unwrap_or(id)
}
