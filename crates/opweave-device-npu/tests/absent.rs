// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a machine without CANN is left with after the search: what it was before. The only test of this binary, so that nobody
//! else changes the process meanwhile.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use opweave_device::BackendState;
use opweave_device_npu::{Cann, LoadError, Places, backend};

/// What a process can be changed in by a library that is looked for, as the kernel tells it.
#[derive(PartialEq, Debug)]
struct Process {
    variables: Vec<(OsString, OsString)>,
    folder: PathBuf,
    /// Files that are mapped, libraries among them.
    mapped: BTreeSet<String>,
    /// Open files by their numbers.
    open: BTreeSet<(String, PathBuf)>,
    /// Threads, signals that are blocked on this one, ignored or caught, the mask of new files, capabilities.
    status: Vec<String>,
    limits: String,
}

impl Process {
    fn now() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let files = maps.lines().filter_map(|line| line.find('/').map(|at| line[at..].to_owned()));
        let entry = |entry: fs::DirEntry| {
            // The folder that is being read is gone by the time it is looked at.
            let target = fs::read_link(entry.path()).ok()?;
            let own = target.ends_with("fd");
            (!own).then(|| (entry.file_name().to_string_lossy().into_owned(), target))
        };
        let said = fs::read_to_string("/proc/thread-self/status").unwrap();
        let fields = ["Umask:", "Threads:", "SigBlk:", "SigIgn:", "SigCgt:", "NoNewPrivs:", "Seccomp:", "CapEff:"];
        Process {
            variables: std::env::vars_os().collect(),
            folder: std::env::current_dir().unwrap(),
            mapped: files.collect(),
            open: fs::read_dir("/proc/self/fd").unwrap().filter_map(|found| entry(found.unwrap())).collect(),
            status: said.lines().filter(|l| fields.iter().any(|f| l.starts_with(f))).map(str::to_owned).collect(),
            limits: fs::read_to_string("/proc/self/limits").unwrap(),
        }
    }
}

#[test]
fn looking_for_cann_where_there_is_none_changes_nothing() {
    let before = Process::now();
    assert!(before.mapped.len() > 1 && before.open.len() > 2 && before.status.len() > 5, "{before:?}");
    match backend().state {
        BackendState::Absent(reason) => assert!(reason.contains("libascendcl.so was not found in"), "{reason}"),
        other => {
            println!("not run: this machine has CANN: {other:?}");
            return;
        }
    }
    assert_eq!(Process::now(), before);
    // Folders that are named and that are not there, or hold no library.
    let here = std::env::current_dir().unwrap();
    let places = Places::of(|name| match name {
        "ASCEND_HOME_PATH" => Some("/nowhere/cann".into()),
        "ASCEND_TOOLKIT_HOME" => Some(here.clone().into()),
        _ => None,
    });
    assert!(matches!(Cann::load(&places), Err(LoadError::Absent { .. })));
    assert_eq!(Process::now(), before);
}
