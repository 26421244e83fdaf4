// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What can go wrong with a device.

use opweave_tensor::DeviceId;

use crate::Fault;

/// A device, its driver or its memory said no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A library or driver that is not installed.
    #[error("library `{library}` is missing: {reason}")]
    MissingLibrary {
        /// Its name.
        library: String,
        /// What the loader said.
        reason: String,
    },
    /// A symbol that the library does not have.
    #[error("symbol `{symbol}` is missing from `{library}`")]
    MissingSymbol {
        /// The library.
        library: String,
        /// The symbol.
        symbol: String,
    },
    /// An allocation that failed.
    #[error("{device} cannot allocate {bytes} bytes aligned to {align}: {reason}")]
    Allocation {
        /// The device.
        device: DeviceId,
        /// Bytes asked for.
        bytes: usize,
        /// Alignment asked for.
        align: usize,
        /// Why not.
        reason: String,
    },
    /// A transfer outside a buffer.
    #[error("bytes {start}..{end} are outside a buffer of {bytes} bytes")]
    OutOfBounds {
        /// First byte.
        start: usize,
        /// Past the last byte.
        end: usize,
        /// Size of the buffer.
        bytes: usize,
    },
    /// An operation in the wrong state, such as a capture inside a capture.
    #[error("{device}: {what}")]
    State {
        /// The device.
        device: DeviceId,
        /// What is wrong, in words.
        what: String,
    },
    /// An error code of the driver.
    #[error("{device}: driver error {code}: {message}")]
    Driver {
        /// The device.
        device: DeviceId,
        /// The driver's code.
        code: i64,
        /// The driver's words.
        message: String,
    },
}

impl DeviceError {
    /// The same error; one of the driver, whose words name no function, says what was being done.
    pub fn doing(self, what: &str) -> Self {
        match self {
            DeviceError::Driver { device, code, message } => {
                DeviceError::Driver { device, code, message: format!("{what}: {message}") }
            }
            other => other,
        }
    }
}

/// A launch that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The device refused.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A value in the data was outside its table, and the stream has no fault buffer. On the CPU nothing was written.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// One call of a graph failed.
    #[error("{call}: {source}")]
    Replay {
        /// The operation, its kernel and its problem.
        call: String,
        /// What went wrong.
        source: Box<LaunchError>,
    },
    /// The plan cannot do what it was asked, against its own needs: a defect of the kernel.
    #[error("the kernel refused a call that its plan admits: {0}")]
    Refused(String),
}
