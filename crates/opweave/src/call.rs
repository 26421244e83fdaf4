// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Calls: by a prepared operator that is at hand, or through the bindings of this process.

use std::sync::Arc;

use opweave_contract::{Clause, ContractError, DynDims, Operator, TensorSpec};
use opweave_device::{HostStream, StreamRef};
use opweave_registry::{EnqueueError, PackedLayout, Prepared, Workspace};
use opweave_runtime::StateError;
use opweave_tensor::{AnyRef, DeviceId, RawTensor};

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
    /// There is nothing to pack.
    #[error("{operation}: the chosen kernel reads its weight as a plain tensor; pass that to the call")]
    Plain {
        /// The operation.
        operation: &'static str,
    },
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
    run_in(handle, args, &mut [], stream)
}

/// The same with scratch memory, of which the call checks size and alignment.
pub(crate) fn run_in<O: Operator>(
    handle: &impl Handle<O>,
    args: &O::Args,
    scratch: &mut [u8],
    stream: &HostStream,
) -> Result<(), CallError> {
    if stream.is_recording() {
        return Err(CallError::Capturing { operation: O::NAME });
    }
    let workspace = Workspace { scratch: (scratch.as_mut_ptr(), scratch.len()), ..Workspace::NONE };
    handle.with(|prepared| {
        // SAFETY: the views are borrowed slices, so they live, are bounded, and outputs are exclusive until this
        // returns; a host stream that does not record has finished the work by then.
        unsafe { prepared.enqueue(args, workspace, StreamRef::host(stream)) }.map_err(CallError::from)
    })
}

/// Packs a weight, once, into a buffer of the caller's, as the prepared operator reads it best.
///
/// - `weight`: the plain weight, as the operator's signature has it.
/// - `target`: as many bytes as [`Prepared::packed`] says, or more, aligned as it says; calls get them by
///   [`AnyRef::packed`].
///
/// Answers the layout.
///
/// # Errors
/// [`CallError`]: nothing is prepared, the operator reads its weight plain, or a view is not what it should be.
pub fn pack<'a, O: Operator>(
    op: &impl Handle<O>,
    weight: impl Into<AnyRef<'a>>,
    target: &mut [u8],
    stream: &HostStream,
) -> Result<PackedLayout, CallError> {
    if stream.is_recording() {
        return Err(CallError::Capturing { operation: O::NAME });
    }
    let weight = weight.into().raw();
    op.with(|prepared| {
        let Some(layout) = prepared.packed() else { return Err(CallError::Plain { operation: O::NAME }) };
        let plain = O::describe(prepared.problem());
        let spec = plain.tensors().find(|spec| spec.packed).ok_or(CallError::Plain { operation: O::NAME })?;
        plain_weight::<O>(spec, &weight)?;
        if target.len() < layout.bytes || !(target.as_ptr() as usize).is_multiple_of(layout.align) {
            let expected = format!("{} bytes aligned to {}", layout.bytes, layout.align);
            let actual = format!("{} bytes at {:p}", target.len(), target.as_ptr());
            return Err(refusal::<O>("target", Clause::Layout, expected, actual));
        }
        // SAFETY: the weight is a borrowed slice of the problem's shape, the target an exclusive one of the layout's size and
        // alignment, and a host stream that does not record has finished by the time this returns.
        unsafe { prepared.pack(&weight, target.as_mut_ptr(), StreamRef::host(stream)) }?;
        Ok(layout.clone())
    })
}

/// Whether a view is the plain weight that `spec` describes: the bounds of its slice were checked when it was made.
fn plain_weight<O: Operator>(spec: &TensorSpec, weight: &RawTensor) -> Result<(), CallError> {
    let shape = spec.shape(&DynDims::new(&[]));
    if weight.dtype() != spec.dtype {
        return Err(refusal::<O>(spec.name, Clause::DType, spec.dtype.to_string(), weight.dtype().to_string()));
    }
    if weight.shape() != shape {
        return Err(refusal::<O>(spec.name, Clause::Shape, format!("{shape:?}"), format!("{:?}", weight.shape())));
    }
    let last = shape.len().saturating_sub(1);
    if weight.dim(last) > 1 && weight.stride(last) != 1 {
        let actual = format!("strides {:?}", weight.strides());
        return Err(refusal::<O>(spec.name, Clause::Stride, format!("stride 1 in dimension {last}"), actual));
    }
    Ok(())
}

fn refusal<O: Operator>(argument: &'static str, clause: Clause, expected: String, actual: String) -> CallError {
    EnqueueError::from(ContractError { operation: O::NAME, argument, clause, expected, actual }).into()
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
