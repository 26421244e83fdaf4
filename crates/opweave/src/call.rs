// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Calls: by a prepared operator that is at hand, or through the bindings of this process.

use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{HostStream, StreamRef};
use opweave_registry::{EnqueueError, Prepared, Workspace};
use opweave_runtime::StateError;
use opweave_tensor::DeviceId;

/// A call that was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// Nothing is prepared for it.
    #[error(transparent)]
    State(#[from] StateError),
    /// The call breaks the contract, or the launch failed.
    #[error(transparent)]
    Enqueue(#[from] EnqueueError),
    /// A call on borrowed slices cannot be recorded: a graph would outlive them.
    #[error(
        "{operation}: the stream is capturing, and a graph would outlive the borrowed slices; call `enqueue` with memory that lives as long"
    )]
    Capturing {
        /// The operation.
        operation: &'static str,
    },
}

/// What finds a prepared operator: a [`Prepared`] itself, or a problem that was prepared for this process's CPU.
pub trait Handle<O: Operator> {
    /// Calls `with` on the prepared operator.
    ///
    /// # Errors
    /// [`CallError::State`] when there is none, or whatever `with` answers.
    fn with<R>(&self, with: impl FnOnce(&Prepared<O>) -> Result<R, CallError>) -> Result<R, CallError>;
}

impl<O: Operator> Handle<O> for Prepared<O> {
    #[inline]
    fn with<R>(&self, with: impl FnOnce(&Prepared<O>) -> Result<R, CallError>) -> Result<R, CallError> {
        with(self)
    }
}

impl<O: Operator> Handle<O> for Arc<Prepared<O>> {
    #[inline]
    fn with<R>(&self, with: impl FnOnce(&Prepared<O>) -> Result<R, CallError>) -> Result<R, CallError> {
        with(self)
    }
}

/// The operator that this process prepared for a problem on a device.
///
/// # Errors
/// [`StateError`]: before initialize, outside what it was asked for, or not prepared, with the nearest that are.
pub fn prepared<O: Operator>(device: DeviceId, problem: &O::Problem) -> Result<Arc<Prepared<O>>, StateError> {
    opweave_runtime::bindings(O::NAME)?.prepared::<O>(device, problem)
}

/// Enqueues a call of the operator that this process prepared for a problem.
///
/// # Errors
/// [`CallError`].
///
/// # Safety
/// - As [`Prepared::enqueue`].
pub unsafe fn enqueue<O: Operator>(
    problem: &O::Problem,
    args: &O::Args,
    workspace: Workspace,
    stream: StreamRef<'_>,
) -> Result<(), CallError> {
    let prepared = prepared::<O>(stream.device(), problem)?;
    // SAFETY: clause 1 is the caller's.
    unsafe { prepared.enqueue(args, workspace, stream) }.map_err(CallError::from)
}

/// Runs a call on borrowed slices to its end.
pub(crate) fn run<O: Operator>(handle: &impl Handle<O>, args: &O::Args, stream: &HostStream) -> Result<(), CallError> {
    if stream.is_recording() {
        return Err(CallError::Capturing { operation: O::NAME });
    }
    handle.with(|prepared| {
        // SAFETY: the views are borrowed slices, so they live, are bounded, and outputs are exclusive until this
        // returns; a host stream that does not record has finished the work by then.
        unsafe { prepared.enqueue(args, Workspace::NONE, StreamRef::host(stream)) }.map_err(CallError::from)
    })
}

/// Makes a problem a [`Handle`] on what this process prepared for it on the CPU.
macro_rules! problem_handle {
    ($operator:ty, $problem:ty) => {
        impl $crate::Handle<$operator> for $problem {
            fn with<R>(
                &self,
                with: impl FnOnce(&$crate::Prepared<$operator>) -> Result<R, $crate::CallError>,
            ) -> Result<R, $crate::CallError> {
                with(&*$crate::prepared::<$operator>($crate::DeviceId::CPU, self)?)
            }
        }
    };
}
pub(crate) use problem_handle;
