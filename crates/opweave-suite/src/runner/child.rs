// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A process that is watched, in a group of its own.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time from the request to end until the process is killed. A row writes what it has in much less.
pub const GRACE: Duration = Duration::from_secs(3);

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(2);

/// A running process. Dropping it ends its group and waits.
#[derive(Debug)]
pub struct Child {
    inner: std::process::Child,
    group: u32,
    ended: Option<ExitStatus>,
}

/// How a process came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Itself,
    /// After it was asked to.
    Asked,
    /// It had to be killed.
    Killed,
}

impl Child {
    /// Starts `command` with both outputs in `log`.
    ///
    /// # Errors
    /// The program or the log cannot be opened.
    pub fn start(mut command: Command, log: &Path) -> io::Result<Self> {
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let out = File::create(log)?;
        let err = out.try_clone()?;
        command.stdin(Stdio::piped()).stdout(out).stderr(err);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let inner = command.spawn()?;
        let group = inner.id();
        Ok(Child { inner, group, ended: None })
    }

    /// The group of the process and whatever it starts.
    #[must_use]
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Waits up to `limit` for the end.
    ///
    /// # Errors
    /// The system cannot say.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            if self.ended.is_none() {
                self.ended = self.inner.try_wait()?;
            }
            if self.ended.is_some() || start.elapsed() >= limit {
                return Ok(self.ended);
            }
            std::thread::sleep(POLL.min(limit));
        }
    }

    /// Asks the process to end, waits, and kills what is left of its group.
    pub fn end(&mut self, grace: Duration) -> Ended {
        let mut how = Ended::Itself;
        if !matches!(self.wait(Duration::ZERO), Ok(Some(_))) {
            how = Ended::Asked;
            self.signal(false);
            if !matches!(self.wait(grace), Ok(Some(_))) {
                how = Ended::Killed;
            }
        }
        // Also after a good end: a reference that the process left behind would disturb the next row.
        self.signal(true);
        let _ = self.inner.kill();
        if self.ended.is_none() {
            self.ended = self.inner.wait().ok();
        }
        how
    }

    #[cfg(unix)]
    fn signal(&self, kill: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Interrupt first: a row answers it by writing what it has.
        let signal = if kill { Signal::KILL } else { Signal::INT };
        if let Some(group) = i32::try_from(self.group).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: bool) {}
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.end(Duration::ZERO);
        }
    }
}
