// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Executors: what the first phase makes of descriptors, used once or kept.

use std::ffi::c_void;

use opweave_device::DeviceError;
use opweave_device_npu::{Cann, Context, Executor, Status};

use crate::descriptor::{self, Owned, meta};
use crate::operation::{Found, Request};
use crate::program::{MAX_TENSORS, Operand, Origin, Step};

/// What a repeatable executor's addresses must be aligned to, by the vendor's reference; a call with others goes through both
/// phases.
const ADDRESS_ALIGN: usize = 32;

/// A step after its first phase: descriptors, executor, and the workspace that it wants.
pub(crate) struct Asked {
    context: std::sync::Arc<Context>,
    found: Found,
    executor: Executor,
    tensors: [Option<Owned>; MAX_TENSORS],
    // Read by the executor for as long as it lives.
    _ints: Option<Owned>,
    _scalars: [Option<Owned>; 4],
    bytes: u64,
    /// Whether the executor outlives its launch, and is ours to destroy.
    repeatable: bool,
}

// SAFETY: handles of the library's; an executor is used by one thread at a time, for which its owner sees.
unsafe impl Send for Asked {}

/// The address of an operand in a call whose workspace begins at `scratch`.
pub(crate) fn address(operand: &Operand, scratch: *mut u8) -> *mut c_void {
    match operand.origin {
        Origin::Argument => operand.view.data().cast(),
        Origin::Scratch(at) => scratch.wrapping_add(at).cast(),
    }
}

impl Asked {
    /// Goes through the first phase. `scratch` is where the workspace of the call begins; null in advance.
    pub(crate) fn new(
        context: &std::sync::Arc<Context>,
        found: Found,
        step: &Step,
        scratch: *mut u8,
    ) -> Result<Self, DeviceError> {
        let cann = context.cann();
        // Whatever a later line needs is looked for before anything is made.
        let (_, _) = (meta(cann)?.set_repeatable()?, meta(cann)?.destroy_executor()?);
        let mut tensors = [const { None }; MAX_TENSORS];
        for (slot, operand) in tensors.iter_mut().zip(step.operands()) {
            if let Some(operand) = operand {
                *slot = Some(descriptor::tensor(cann, &operand.view, operand.form, address(operand, scratch))?);
            }
        }
        let ints = found.operation.ints.map(|of| descriptor::ints(cann, of(&step.attributes))).transpose()?;
        let (takes, numbers) = (found.operation.scalars, &step.attributes);
        let scalars = [
            takes[0].then(|| descriptor::scalar(cann, numbers.real)).transpose()?,
            takes[1].then(|| descriptor::integer(cann, numbers.int)).transpose()?,
            takes[2].then(|| descriptor::integer(cann, numbers.limit)).transpose()?,
            takes[3].then(|| descriptor::integer(cann, 1)).transpose()?,
        ];
        let raw = |owned: &Option<Owned>| owned.as_ref().map_or(std::ptr::null_mut(), |owned| owned.raw);
        let (mut bytes, mut executor) = (0, std::ptr::null_mut());
        let handles: [*mut c_void; MAX_TENSORS] = std::array::from_fn(|at| raw(&tensors[at]));
        let request = Request {
            function: found.first,
            tensors: &handles,
            attributes: &step.attributes,
            ints: raw(&ints),
            scalars: scalars.each_ref().map(raw),
            bytes: &raw mut bytes,
            executor: &raw mut executor,
        };
        // SAFETY: descriptors are live; the function is the operation's own.
        let status = unsafe { (found.operation.first)(&request) };
        context.check(status).map_err(|error| error.doing(&format!("{}GetWorkspaceSize", found.operation.symbol)))?;
        let (_ints, _scalars) = (ints, scalars);
        Ok(Asked { context: context.clone(), found, executor, tensors, _ints, _scalars, bytes, repeatable: false })
    }

    /// Bytes of workspace that the launch wants.
    pub(crate) fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// Keeps the executor: it can be launched again. Not every operator's can, which is no error.
    pub(crate) fn keep(&mut self) -> Result<bool, DeviceError> {
        // SAFETY: a live executor.
        let status = unsafe { meta(self.context.cann())?.set_repeatable()?(self.executor) };
        self.repeatable = status == 0;
        Ok(self.repeatable)
    }

    /// Tells a kept executor the addresses of this call. `false` where they are not aligned as it wants them.
    pub(crate) fn tell(&self, step: &Step, scratch: *mut u8) -> Result<bool, DeviceError> {
        let set = meta(self.context.cann())?.set_tensor_address()?;
        let addresses = || step.operands().iter().flatten().map(|operand| address(operand, scratch));
        if addresses().any(|address| !(address as usize).is_multiple_of(ADDRESS_ALIGN)) {
            return Ok(false);
        }
        // The index counts the tensors that there are.
        for (index, (owned, address)) in self.tensors.iter().flatten().zip(addresses()).enumerate() {
            // SAFETY: a live executor and a descriptor that it was made of.
            self.context.check(unsafe { set(self.executor, index, owned.raw, address) })?;
        }
        Ok(true)
    }

    /// The second phase. An executor that is not kept is gone after it.
    ///
    /// # Safety
    /// - `workspace` has [`Asked::bytes`] bytes; it and the tensors are valid for what the operator does until it has finished.
    pub(crate) unsafe fn launch(&mut self, workspace: *mut u8, stream: *mut c_void) -> Result<(), DeviceError> {
        let workspace = if self.bytes == 0 { std::ptr::null_mut() } else { workspace.cast() };
        // SAFETY: a live executor and stream; the caller's clause for memory.
        let status: Status = unsafe { (self.found.second)(workspace, self.bytes, self.executor, stream) };
        if !self.repeatable {
            self.executor = std::ptr::null_mut();
        }
        self.context.check(status).map_err(|error| error.doing(self.found.operation.symbol))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.executor.is_null() {
            return;
        }
        // Only a repeatable executor can be destroyed; one that was never launched is made so first.
        let cann: &Cann = self.context.cann();
        if let Ok(meta) = meta(cann)
            && let (Ok(keep), Ok(destroy)) = (meta.set_repeatable(), meta.destroy_executor())
        {
            if !self.repeatable {
                // SAFETY: a live executor.
                unsafe { keep(self.executor) };
            }
            // SAFETY: a live executor that is ours, destroyed here only.
            unsafe { destroy(self.executor) };
        }
    }
}
