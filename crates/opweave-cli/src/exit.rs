// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Exit codes, which are all that a build server sees.

use std::fmt;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done and good.
    Good,
    /// Something measured is bad.
    Bad,
    /// A wrong argument, an unknown name, a file that is no report.
    Usage,
    /// A comparison regressed, or is ambiguous where that was to be strict.
    Regressed,
    /// Stopped by the user.
    Interrupted,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::Bad => 1,
            Self::Usage => 2,
            Self::Regressed => 3,
            // 128 + SIGINT, as shells report it.
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command has no outcome.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user's input: exit 2.
    Usage(anyhow::Error),
    /// Something broke on the way: exit 1.
    Broken(anyhow::Error),
}

impl Failure {
    /// A usage error out of a message.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::Usage(anyhow::anyhow!("{message}"))
    }

    /// The code that goes with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Broken(_) => Exit::Bad,
        }
    }

    /// Whether the reader of our output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let Self::Broken(error) = self else { return false };
        error
            .chain()
            .filter_map(|e| e.downcast_ref::<std::io::Error>())
            .any(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(error) | Self::Broken(error)) = self;
        // Library errors are fragments that compose after "failed to"; our own messages read on their own.
        write!(f, "{error:#}")
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        // Back to the error of the writer, which may be a closed pipe.
        Self::Broken(std::io::Error::from(error).into())
    }
}
