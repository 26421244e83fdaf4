// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The launchers themselves, where this machine has them.

use std::path::Path;
use std::process::Command;

use opweave_numerics::report::{Status, read};

use crate::ranks::free_port;
use crate::run::{Ran, command, finish};

const WORK: [&str; 10] =
    ["numerics", "--operation", "rms_norm", "--tier", "smoke", "--threads", "1", "--revision", "test", "--distributed"];

/// Whether the launcher is there; if not, that is said.
fn there(launcher: &str) -> bool {
    let found =
        Command::new(launcher).arg("--version").output().is_ok_and(|o| o.status.success() || !o.stdout.is_empty())
            || Command::new(launcher).arg("--help").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("not run: there is no {launcher} on this machine");
    }
    found
}

/// The binary's command line and its environment under a launcher.
fn under(launcher: &str, options: &[&str], path: &Path) -> Ran {
    let inner = command(&WORK);
    let mut outer = Command::new(launcher);
    outer.args(options).arg(inner.get_program()).args(inner.get_args()).arg("--output").arg(path);
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    finish(&mut outer)
}

fn passed(ran: &Ran, path: &Path, size: usize) {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let report = read(path).unwrap();
    assert_eq!((report.status, report.distributed.map(|d| d.ranks.len())), (Status::Passed, Some(size)));
}

#[test]
fn torchrun_starts_ranks() {
    if !there("torchrun") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let port = free_port().to_string();
    let own = ["--no-python", "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", &port];
    passed(&under("torchrun", &own, &path), &path, 2);
}

#[test]
fn mpirun_starts_ranks() {
    if !there("mpirun") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let port = format!("MASTER_PORT={}", free_port());
    for size in ["2", "4"] {
        let own = ["-n", size, "--oversubscribe", "-x", "MASTER_ADDR=127.0.0.1", "-x", &port];
        passed(&under("mpirun", &own, &path), &path, size.parse().unwrap());
    }
}
