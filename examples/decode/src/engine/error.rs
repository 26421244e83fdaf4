// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What an engine can refuse, or fail at.

use opweave::{CallError, InitializeError, StateError, ViewError};

use crate::checkpoint::Defect;

/// A request that the engine cannot serve, or a failure below it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A token that the vocabulary does not have.
    #[error("decode token {token}: the vocabulary has {vocab_size} tokens")]
    Token {
        /// The token.
        token: u32,
        /// Tokens that there are.
        vocab_size: usize,
    },
    /// A number of something that the engine was not made for.
    #[error("{what} is {found}, expected {legal}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The number.
        found: usize,
        /// What is legal.
        legal: String,
    },
    /// A weight that cannot be read.
    #[error("read the weights: {0}")]
    Weights(#[from] Defect),
    /// Blocks that are no weight of their shape.
    #[error("take the blocks of a weight apart: {0}")]
    Blocks(#[from] opweave::ops::ConvertError),
    /// The rotary table cannot be made.
    #[error("make the rotary table: {0}")]
    Rotary(#[from] opweave::ops::RotaryTableError),
    /// Operators cannot be prepared.
    #[error("prepare the operators: {0}")]
    Initialize(#[from] InitializeError),
    /// An operator is missing from what was prepared.
    #[error(transparent)]
    State(#[from] StateError),
    /// An operator refused a call, or failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An operator refused a call that was to be kept, or failed in it.
    #[error(transparent)]
    Kept(#[from] opweave::EnqueueError),
    /// A view that does not fit its memory.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Memory that cannot be had.
    #[error(transparent)]
    Memory(#[from] opweave::device::DeviceError),
    /// Threads that cannot be had.
    #[error(transparent)]
    Threads(#[from] opweave::SolutionError),
}

pub(super) fn limit(what: &'static str, found: usize, legal: impl Into<String>) -> EngineError {
    EngineError::Limit { what, found, legal: legal.into() }
}
