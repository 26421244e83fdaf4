// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Calls that are checked once and made many times.
//!
//! Where kernels stream a model's weights through the caches, a call is paid for in cache lines: what its check reads and the code of
//! the check itself were pushed out since the call before. An engine that decodes makes the same calls for every token, on the same
//! memory. It can have them checked beforehand and keep them.

use std::fmt;
use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::StreamRef;
use opweave_tensor::DeviceId;

use crate::{EnqueueError, Plan, Prepared, Workspace};

/// A call that passed the check of its prepared operator, with everything that it launches. It can be made only so, and never changes:
/// whoever holds it need not check again.
///
/// What a launch reads lies side by side, beginning with a cache line of its own.
#[repr(C, align(64))]
pub struct CheckedCall<O: Operator> {
    plan: Arc<dyn Plan<O>>,
    workspace: Workspace,
    device: DeviceId,
    plainly: bool,
    index: u8,
    args: O::Args,
    prepared: Arc<Prepared<O>>,
}

impl<O: Operator> Prepared<O> {
    /// Validates a call as [`Prepared::enqueue`] does, and keeps it: its bucket is decided too. Nothing is launched, and nothing read or
    /// written through a view.
    ///
    /// # Errors
    /// [`EnqueueError::Contract`].
    pub fn checked(self: &Arc<Self>, args: O::Args, workspace: Workspace) -> Result<CheckedCall<O>, EnqueueError> {
        let index = self.admit(&args, workspace)?;
        Ok(CheckedCall {
            plan: Arc::clone(self.plan(index)),
            workspace,
            device: self.device(),
            plainly: !self.synchronises(),
            // Buckets are few.
            index: index as u8,
            args,
            prepared: Arc::clone(self),
        })
    }
}

impl<O: Operator> CheckedCall<O> {
    /// The arguments.
    pub fn args(&self) -> &O::Args {
        &self.args
    }

    /// The operator that checked it.
    pub fn prepared(&self) -> &Arc<Prepared<O>> {
        &self.prepared
    }

    /// Enqueues the call. The stream is checked, as that of any call.
    ///
    /// # Errors
    /// [`EnqueueError::Contract`] for a stream of another device, [`EnqueueError::Launch`] for the launch itself.
    ///
    /// # Safety
    /// - As [`Prepared::enqueue`], of the arguments and the workspace that were checked.
    #[inline]
    pub unsafe fn enqueue(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
        if !self.plainly || stream.is_recording() || stream.device() != self.device {
            // SAFETY: the caller's clause.
            return unsafe { self.enqueue_elsewise(stream) };
        }
        // SAFETY: the check that made this value accepted arguments and workspace; the caller vouches for the memory.
        match unsafe { self.plan.enqueue(&self.args, self.workspace, stream) } {
            Ok(()) => Ok(()),
            Err(source) => Err(self.prepared.failed(self.index.into(), stream, source)),
        }
    }

    /// # Safety
    /// - As [`CheckedCall::enqueue`].
    #[cold]
    unsafe fn enqueue_elsewise(&self, stream: StreamRef<'_>) -> Result<(), EnqueueError> {
        if stream.device() != self.device {
            return Err(self.prepared.foreign_stream(stream).into());
        }
        // SAFETY: the check that made this value accepted arguments and workspace for the bucket; the caller vouches for the memory.
        unsafe { self.prepared.launch(self.index.into(), &self.args, self.workspace, stream) }
    }

    /// Asks the processor for what [`CheckedCall::enqueue`] will read of this value: while the kernel before it runs.
    #[inline]
    pub fn fetch(&self) {
        opweave_device::cpu::fetch(std::ptr::from_ref(self).cast(), size_of::<Self>());
    }
}

impl<O: Operator> Clone for CheckedCall<O> {
    fn clone(&self) -> Self {
        CheckedCall { plan: Arc::clone(&self.plan), prepared: Arc::clone(&self.prepared), ..*self }
    }
}

impl<O: Operator> fmt::Debug for CheckedCall<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call of {:?}", self.prepared)
    }
}
