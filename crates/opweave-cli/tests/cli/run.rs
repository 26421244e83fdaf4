// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Runs the binary.

use std::process::Command;

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The binary, with an environment that no override reaches.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_opweave"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("OPWEAVE_") {
            command.env_remove(name);
        }
    }
    command.args(args);
    command
}

/// Runs to the end.
pub(crate) fn opweave(args: &[&str]) -> Ran {
    finish(&mut command(args))
}

/// Runs a prepared command to the end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().expect("the binary was not killed by a signal"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
