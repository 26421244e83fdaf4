// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Looks at the host by `/proc`: the CPU device's telemetry.

use std::path::{Path, PathBuf};

use super::{Own, Probe, ProbeError, Sighting};

/// A `/proc`, real or made up.
#[derive(Clone, Debug)]
pub struct Proc(PathBuf);

/// Ticks of all processors since the machine began, by what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    stolen: u64,
    all: u64,
    processors: u64,
}

/// A process: ids and the ticks that it took.
struct Process {
    pid: u32,
    group: u32,
    /// Its own.
    ticks: u64,
    /// Of its children that have ended.
    children: u64,
    name: String,
}

impl Default for Proc {
    fn default() -> Self {
        Proc(PathBuf::from("/proc"))
    }
}

impl Proc {
    /// Another folder in the place of `/proc`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Proc(path.to_owned())
    }

    /// Processes of a group.
    pub(super) fn group(&self, group: u32) -> Vec<u32> {
        self.processes().into_iter().filter(|p| p.group == group).map(|p| p.pid).collect()
    }

    /// Load average of one minute.
    pub(super) fn load(&self) -> Option<f64> {
        std::fs::read_to_string(self.0.join("loadavg")).ok()?.split_whitespace().next()?.parse().ok()
    }

    fn ticks(&self) -> Result<Ticks, String> {
        let path = self.0.join("stat");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let malformed = || format!("{} has no line `cpu` with eight numbers", path.display());
        let line = text.lines().find(|line| line.starts_with("cpu ")).ok_or_else(malformed)?;
        let numbers: Vec<u64> = line.split_whitespace().skip(1).map_while(|n| n.parse().ok()).collect();
        let [user, nice, system, idle, waiting, interrupts, soft, stolen, ..] = numbers[..] else {
            return Err(malformed());
        };
        let busy = user + nice + system + interrupts + soft;
        let processors = text.lines().filter(|l| l.starts_with("cpu") && !l.starts_with("cpu ")).count() as u64;
        Ok(Ticks { busy, stolen, all: busy + stolen + idle + waiting, processors: processors.max(1) })
    }

    /// Every process that can be seen, with the ticks of itself and of its children that have ended.
    fn processes(&self) -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let read = |entry: std::fs::DirEntry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name stands in parentheses and may hold any character, so the last one ends it.
            let (head, tail) = text.rsplit_once(')')?;
            let fields: Vec<&str> = tail.split_whitespace().collect();
            let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
            let (ticks, children) = (number(11)? + number(12)?, number(13)? + number(14)?);
            let name = head.split_once('(').map_or("", |(_, name)| name).to_owned();
            Some(Process { pid, group: number(2)? as u32, ticks, children, name })
        };
        entries.filter_map(Result::ok).filter_map(read).collect()
    }
}

/// The host, and what it had done at the look before.
pub struct HostProbe {
    proc: Proc,
    before: Option<(Ticks, Vec<Process>, Option<u32>)>,
}

impl HostProbe {
    /// A probe of a host. The first look has nothing to compare with and only begins.
    #[must_use]
    pub fn new(proc: Proc) -> Self {
        HostProbe { proc, before: None }
    }
}

/// Others that take this share of a processor are named.
const NAMED: f64 = 0.1;

impl Probe for HostProbe {
    fn look(&mut self, own: &Own) -> Result<Sighting, ProbeError> {
        // Processes first: what they take while the list is read counts as theirs at the next look, not as a stranger's.
        let processes = self.proc.processes();
        let now = self.proc.ticks().map_err(|reason| ProbeError { device: "the host".to_owned(), reason })?;
        let mut seen = Sighting { load: self.proc.load(), ..Sighting::default() };
        let me = std::process::id();
        let ours = |p: &Process| p.pid == me || own.group.is_some_and(|group| p.group == group);
        if let Some((before, then, group)) = &self.before
            && *group == own.group
        {
            // In ticks of one processor.
            let span = now.all.saturating_sub(before.all) as f64 / now.processors as f64;
            // A child of the group that ended left its ticks with its parent there. The suite itself waits for whole rows, which
            // would hide everything that happened beside them.
            let sum = |p: &Process| if p.pid == me { p.ticks } else { p.ticks + p.children };
            let took = |p: &Process| {
                let earlier = then.iter().find(|q| q.pid == p.pid).map_or(0, sum);
                sum(p).saturating_sub(earlier)
            };
            // Fewer ticks than these and one of them more or less decides.
            if span >= 10.0 {
                let mine: u64 = processes.iter().filter(|p| ours(p)).map(took).sum();
                let busy = now.busy.saturating_sub(before.busy);
                seen.foreign_work = Some(busy.saturating_sub(mine) as f64 / span);
                seen.steal = Some(now.stolen.saturating_sub(before.stolen) as f64 / (span * now.processors as f64));
                let mut others: Vec<(u64, &Process)> =
                    processes.iter().filter(|p| !ours(p)).map(|p| (took(p), p)).collect();
                others.sort_by_key(|(ticks, p)| (std::cmp::Reverse(*ticks), p.pid));
                let loud = others.iter().take(3).filter(|(ticks, _)| *ticks as f64 / span >= NAMED);
                seen.foreign = loud.map(|(_, p)| format!("process {} ({})", p.pid, p.name)).collect();
            } else {
                // Too soon: the look before stays what the next one is compared with.
                return Ok(seen);
            }
        }
        self.before = Some((now, processes, own.group));
        Ok(seen)
    }
}
