// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Commands of other programs: shown before they run, an error if they fail.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// How many arguments of a command are shown.
const SHOWN: usize = 12;

/// A command that runs in the workspace's root.
pub(crate) struct Program {
    command: Command,
}

impl Program {
    /// A call of `program` in the folder `folder`.
    pub(crate) fn new(program: impl AsRef<OsStr>, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null());
        Program { command }
    }

    /// A call of the cargo that runs xtask.
    pub(crate) fn cargo(folder: &Path) -> Self {
        let mut program = Program::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), folder);
        // Set by cargo for xtask itself; handed on, they would make builds differ from those of a plain cargo call.
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "RUST_RECURSION_COUNT"] {
            program.command.env_remove(name);
        }
        program
    }

    /// Adds arguments, split at white space.
    pub(crate) fn args(mut self, words: &str) -> Self {
        self.command.args(words.split_whitespace());
        self
    }

    /// Adds one argument as it is.
    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.command.arg(word);
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The command as a person would type it, without the end of one that nobody would.
    pub(crate) fn line(&self) -> String {
        let program = Path::new(self.command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let words = self.command.get_args().map(|word| {
            let word = word.to_string_lossy();
            if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word.into_owned() }
        });
        let more = self.command.get_args().len().saturating_sub(SHOWN);
        let rest = (more > 0).then(|| format!("and {more} more"));
        std::iter::once(program.into_owned()).chain(words.take(SHOWN)).chain(rest).collect::<Vec<_>>().join(" ")
    }

    /// Runs it and returns its exit code.
    pub(crate) fn code(mut self) -> Result<i32> {
        let line = self.line();
        eprintln!("$ {line}");
        let status = self.command.status().with_context(|| format!("failed to start {line}"))?;
        status.code().with_context(|| format!("{line} was ended by a signal: {status}"))
    }

    /// Runs it; an exit code other than 0 is an error.
    pub(crate) fn run(self) -> Result<()> {
        let line = self.line();
        match self.code()? {
            0 => Ok(()),
            code => bail!("{line} ended with exit code {code}"),
        }
    }

    /// Runs it silently and returns what it printed; an exit code other than 0 is an error that carries its words.
    pub(crate) fn read(mut self) -> Result<String> {
        let line = self.line();
        let output = self.command.output().with_context(|| format!("failed to start {line}"))?;
        if !output.status.success() {
            bail!("{line}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        }
        String::from_utf8(output.stdout).with_context(|| format!("{line} printed what is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let here = Path::new(".");
        assert!(Program::new("true", here).run().is_ok());
        let error = Program::new("sh", here).args("-c").arg("exit 3").run().unwrap_err();
        assert_eq!(error.to_string(), "sh -c 'exit 3' ended with exit code 3");
        let error = Program::new("sh", here).args("-c").arg("echo why >&2; exit 1").read().unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
        let files = (0..30).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert!(Program::new("echo", here).args(&files).line().ends_with("10 11 and 18 more"));
        assert!(Program::new("no-such-program", here).run().unwrap_err().to_string().contains("failed to start"));
    }
}
