// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Calls that nobody has made yet: what a plan asks the first phase about in advance.

use std::convert::Infallible;

use opweave_contract::{ArgSource, ArgSpecs, DynDims, Operator, ScalarParam, TensorSpec};
use opweave_tensor::{DeviceId, RawTensor};

/// Arguments of given sizes, at addresses that are never read.
pub(crate) struct Sample {
    pub(crate) device: DeviceId,
    pub(crate) dims: DynDims,
    /// Whether tensors have gaps where they may, and outputs lie on the inputs that they may share memory with: what takes the
    /// most workspace.
    pub(crate) worst: bool,
}

/// Elements between rows, where they may have a gap: a prime, so that what rows have in common with the distance between pages is
/// as little as it can be.
const GAP: usize = 8191;
/// Further apart than any tensor is long.
const APART: usize = 1 << 44;

impl Sample {
    /// The arguments; `None` for sizes that no view can have.
    pub(crate) fn args<O: Operator>(mut self, specs: &ArgSpecs) -> Option<O::Args> {
        let Ok(args) = O::assemble(specs, &mut self);
        Some(args)
    }
}

impl ArgSource for Sample {
    type Error = Infallible;

    fn tensor(&mut self, index: usize, spec: &TensorSpec) -> Result<RawTensor, Infallible> {
        let shape = spec.shape(&self.dims);
        let place = if self.worst { spec.aliases.first().copied().unwrap_or(index) } else { index };
        let data = std::ptr::without_provenance_mut((place + 1) * APART);
        let gaps = self.worst && !spec.promise.contiguous;
        let mut strides = vec![0_isize; shape.len()];
        let mut stride = 1_isize;
        for axis in (0..shape.len()).rev() {
            let gap = if gaps && (spec.dims[axis].strided || spec.dims[axis].free) { GAP as isize } else { 0 };
            strides[axis] = stride.saturating_add(gap);
            stride = strides[axis].saturating_mul(shape[axis].max(1) as isize);
        }
        let strided = RawTensor::strided(data, spec.dtype, self.device, &shape, &strides);
        let plain = || RawTensor::contiguous(data, spec.dtype, self.device, &[0]);
        // A size that overflows is found by whoever sums up the workspace.
        Ok(strided
            .or_else(|_| plain())
            .unwrap_or_else(|_| RawTensor::packed(data, self.device, 0, opweave_tensor::LayoutId(0))))
    }

    fn scalar(&mut self, param: &ScalarParam) -> f64 {
        // A call whose scalars are not the neutral ones may take more operators.
        if self.worst { param.default + 1.0 } else { param.default }
    }
}
