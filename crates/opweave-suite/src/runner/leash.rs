// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The process of a row ends with the suite, however the suite ends.
//!
//! The suite holds the other end of its standard input and writes nothing there. When the suite is gone - killed, even - the
//! kernel closes that end, and the row's process, which reads it, ends itself and everything in its group. That needs no
//! signal handler, no polling, and works between `fork` and `exec` as well.

use std::io::Read;

/// Ends this process and its group when standard input ends. For the process of a row only.
pub fn hold_leash() {
    std::thread::spawn(|| {
        let mut byte = [0_u8];
        // Whatever is said is not meant for us; only the end counts.
        while matches!(std::io::stdin().read(&mut byte), Ok(n) if n > 0) {}
        end_group();
        std::process::exit(1);
    });
}

/// Kills the group that this process leads. A process in a group of others ends alone.
#[cfg(unix)]
fn end_group() {
    use rustix::process::{Signal, getpgrp, getpid, kill_process_group};
    if getpgrp() == getpid() {
        let _ = kill_process_group(getpgrp(), Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group() {}
