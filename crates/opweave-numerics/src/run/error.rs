// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why a run does not begin, or cannot be recorded.

use opweave_ranks::{Disagreement, RanksError};
use opweave_runtime::OverrideError;

use crate::input::InputError;
use crate::report::ReportError;
use crate::suite::ArgumentError;

/// Why a run does not begin, or cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An operation that has no suite.
    #[error("operation `{name}` has no suite; there are suites for {known}{hint}")]
    Operation {
        /// The name given.
        name: String,
        /// The operations that have one.
        known: String,
        /// The nearest spelling, as a phrase, or empty.
        hint: String,
    },
    /// A label or glob that no case of the chosen operations has.
    #[error("no case of {operations} has a label like `{label}` in tier `{tier}`{hint}")]
    Label {
        /// The operations.
        operations: String,
        /// The label or glob.
        label: String,
        /// The tier.
        tier: String,
        /// The nearest label, as a phrase, or empty.
        hint: String,
    },
    /// An implementation or solution that no chosen operation has.
    #[error(transparent)]
    Implementation(#[from] OverrideError),
    /// A suite's argument.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The tensors file.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Repetitions out of range.
    #[error("repeat {repeat} is not possible; expected 1 or more")]
    Repeat {
        /// The value given.
        repeat: u32,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The ranks of a distributed run do not begin.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// The ranks of a distributed run do not go on together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A rank of a distributed run could not write its report.
    #[error("keep the record of all ranks, rank {rank}: {reason}")]
    Record {
        /// The rank.
        rank: usize,
        /// Why.
        reason: String,
    },
}

impl RunError {
    /// The exit code that a process should end with: 2 for a request that cannot be met as it was written, 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::Report(_) | RunError::Ranks(_) | RunError::Record { .. } => 1,
            RunError::Disagreement(error) => error.exit_code(),
            _ => 2,
        }
    }
}
