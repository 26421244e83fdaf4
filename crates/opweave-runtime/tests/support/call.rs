// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Calls with memory of their own.

use opweave_contract::{ArgSource, DynDims, Operator, Placement, ScalarParam, TensorSpec};
use opweave_device::cpu::HostBuffer;
use opweave_device::{Buffer, DeviceError};
use opweave_registry::{Prepared, Regions, Workspace};
use opweave_tensor::{DeviceId, RawTensor};

/// The arguments of a call and the memory behind them.
pub struct Call<O: Operator> {
    /// The arguments.
    pub args: O::Args,
    /// Workspace that is enough for every bucket.
    pub workspace: Workspace,
    /// One buffer for each tensor, in order of the signature, and two for the workspace.
    pub buffers: Vec<HostBuffer>,
}

struct Source<'a> {
    dims: DynDims,
    device: DeviceId,
    layout: Option<&'a opweave_registry::PackedLayout>,
    buffers: Vec<HostBuffer>,
}

impl ArgSource for Source<'_> {
    type Error = DeviceError;

    fn tensor(&mut self, _: usize, spec: &TensorSpec) -> Result<RawTensor, DeviceError> {
        let device = if spec.placement == Placement::Host { DeviceId::CPU } else { self.device };
        if let (true, Some(layout)) = (spec.packed, self.layout) {
            let buffer = HostBuffer::new(device, layout.bytes, layout.align)?;
            let view = RawTensor::packed(buffer.data(), device, layout.bytes, layout.id);
            self.buffers.push(buffer);
            return Ok(view);
        }
        let buffer = HostBuffer::new(device, spec.bytes(&self.dims), 64)?;
        let view = RawTensor::contiguous(buffer.data(), spec.dtype, device, &spec.shape(&self.dims));
        self.buffers.push(buffer);
        view.map_err(|e| DeviceError::State { device, what: e.to_string() })
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        param.default
    }
}

impl<O: Operator> Call<O> {
    /// A call of these dimensions that the contract accepts.
    pub fn new(prepared: &Prepared<O>, dims: &[usize]) -> Self {
        let dims = DynDims::new(dims);
        let mut source = Source { dims, device: prepared.device(), layout: prepared.packed(), buffers: Vec::new() };
        let args = O::assemble(prepared.specs(), &mut source).unwrap();
        let mut buffers = source.buffers;
        let workspace = workspace(&prepared.workspace(), &mut buffers);
        Call { args, workspace, buffers }
    }
}

/// Memory for `regions`.
pub fn workspace(regions: &Regions, buffers: &mut Vec<HostBuffer>) -> Workspace {
    let mut region = |r: opweave_registry::Region| {
        if r.bytes == 0 {
            return (std::ptr::null_mut(), 0);
        }
        let buffer = HostBuffer::new(DeviceId::CPU, r.bytes, r.align.max(1)).unwrap();
        let at = (buffer.data(), r.bytes);
        buffers.push(buffer);
        at
    };
    Workspace { scratch: region(regions.scratch), zeroed: region(regions.zeroed) }
}
