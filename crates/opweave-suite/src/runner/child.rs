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

    /// Waits up to `limit` for the end, and says whether it came. The process stays in the system's list until [`end`](Child::end):
    /// what it took can still be read there, and is not taken for the work of others.
    ///
    /// # Errors
    /// The system cannot say.
    pub fn wait(&mut self, limit: Duration) -> io::Result<bool> {
        let start = Instant::now();
        loop {
            if self.has_ended()? {
                return Ok(true);
            }
            if start.elapsed() >= limit {
                return Ok(false);
            }
            std::thread::sleep(POLL.min(limit));
        }
    }

    #[cfg(unix)]
    fn has_ended(&mut self) -> io::Result<bool> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        if self.ended.is_some() {
            return Ok(true);
        }
        let Some(pid) = i32::try_from(self.group).ok().and_then(Pid::from_raw) else { return Ok(false) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), look)?.is_some())
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> io::Result<bool> {
        self.ended = self.ended.map_or_else(|| self.inner.try_wait(), |ended| Ok(Some(ended)))?;
        Ok(self.ended.is_some())
    }

    /// How it ended, once [`end`](Child::end) was called.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Asks the process to end, waits, and kills what is left of its group.
    pub fn end(&mut self, grace: Duration) -> Ended {
        let mut how = Ended::Itself;
        if !matches!(self.wait(Duration::ZERO), Ok(true)) {
            how = Ended::Asked;
            self.signal(false);
            if !matches!(self.wait(grace), Ok(true)) {
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
