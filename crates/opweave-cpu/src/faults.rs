// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What becomes of a fault on the CPU.

use opweave_contract::Operator;
use opweave_device::{Fault, LaunchError, RawFault, StreamRef, operation_code};
use opweave_reference::FaultAt;

/// Reports the first fault of a call, before its first write: into the stream's fault buffer, and the call goes on as it does
/// on every device; or, where the caller gave no buffer, as an error, and nothing is written.
///
/// # Errors
/// [`LaunchError::Fault`] where there is no buffer.
#[inline]
pub(crate) fn report<O: Operator>(first: Option<FaultAt>, stream: StreamRef<'_>) -> Result<(), LaunchError> {
    match first {
        None => Ok(()),
        Some(fault) => raise::<O>(fault, stream),
    }
}

#[cold]
fn raise<O: Operator>(FaultAt { clause, row }: FaultAt, stream: StreamRef<'_>) -> Result<(), LaunchError> {
    if let Some(buffer) = stream.faults() {
        buffer.raise(RawFault { operation: operation_code(O::NAME), clause, row });
        return Ok(());
    }
    let clause = O::signature().faults.get(clause as usize).copied().unwrap_or("an unlisted fault");
    Err(Fault { operation: O::NAME, clause, row }.into())
}
