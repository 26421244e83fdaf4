// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why a case has no judgement.

use opweave_device::{DeviceError, LaunchError};
use opweave_reference::ReferenceError;
use opweave_registry::{EnqueueError, PrepareError, PreparedError};

use crate::compare::CompareError;
use crate::host::HostError;
use crate::input::InputError;
use crate::suite::CaseDefect;
use crate::verdict::Verdict;

/// Why a case has no judgement. What is wrong with an implementation's results is a finding, not one of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The inputs cannot be drawn.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A host tensor cannot be made.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The reference cannot be computed.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The expected values do not belong to the outputs.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The case does not fit its operator.
    #[error(transparent)]
    Case(#[from] CaseDefect),
    /// The row makes no plan.
    #[error("prepare: {0}")]
    Prepare(#[from] PrepareError),
    /// The plan makes no prepared operator.
    #[error(transparent)]
    Prepared(#[from] PreparedError),
    /// Memory or streams.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The call was refused or its launch failed.
    #[error(transparent)]
    Enqueue(#[from] EnqueueError),
    /// A replay of calls, or a copy of the harness's own, failed.
    #[error("run on the stream: {0}")]
    Launch(#[from] LaunchError),
    /// The row holds no kernel of the operator.
    #[error("row `{row}` holds no kernel of {operation}")]
    Row {
        /// The row.
        row: String,
        /// The operation.
        operation: &'static str,
    },
    /// The environment lacks what the case needs.
    #[error("{0}")]
    Environment(String),
    /// The run was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// The case took too long.
    #[error("over {limit_ms} ms")]
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
}

impl CaseError {
    /// The verdict that the error comes to.
    pub fn verdict(&self) -> Verdict {
        match self {
            CaseError::Environment(reason) => Verdict::NotRun { reason: reason.clone() },
            CaseError::TimedOut { limit_ms } => Verdict::TimedOut { limit_ms: *limit_ms },
            CaseError::Interrupted => Verdict::NotRun { reason: self.to_string() },
            error => Verdict::Error { reason: error.to_string() },
        }
    }
}
