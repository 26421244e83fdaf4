// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The one validation of a call. It compares numbers that were resolved at prepare; everything that forms a message is
//! out of line.

use opweave_tensor::{DeviceId, LayoutId, RawTensor};

use crate::{
    ArgSpecs, Clause, ContractError, DynDims, MAX_DYNAMIC, MAX_TENSORS, Placement, ScalarRange, TensorSpec,
    overlap::{is_same, may_share},
};

/// Checks the arguments of one call, in signature order.
#[derive(Debug)]
pub struct Checker<'a> {
    specs: &'a ArgSpecs,
    seen: [Option<&'a RawTensor>; MAX_TENSORS],
    spans: [(usize, usize); MAX_TENSORS],
    dims: [usize; MAX_DYNAMIC],
    bound: u32,
}

impl<'a> Checker<'a> {
    /// A check that has seen nothing.
    #[inline]
    pub fn new(specs: &'a ArgSpecs) -> Self {
        Checker { specs, seen: [None; MAX_TENSORS], spans: [(0, 0); MAX_TENSORS], dims: [0; MAX_DYNAMIC], bound: 0 }
    }

    /// Checks the tensor at `index` of the signature.
    ///
    /// # Errors
    /// [`ContractError`] for presence, layout, dtype, rank, shape, stride, promise, device, null pointer or address.
    #[inline]
    pub fn tensor(&mut self, index: usize, tensor: Option<&'a RawTensor>) -> Result<(), ContractError> {
        let Some(spec) = self.specs.tensor(index) else { return Ok(()) };
        let Some(view) = tensor else {
            return if spec.present { Err(self.absence(spec)) } else { Ok(()) };
        };
        if !spec.present {
            return Err(self.unwanted(spec, view));
        }
        let device = if spec.placement == Placement::Host { DeviceId::CPU } else { self.specs.device() };
        if view.device() != device {
            return Err(self.error(spec, Clause::Device, device.to_string(), view.device().to_string()));
        }
        if view.layout() != spec.layout {
            return Err(self.layout(spec, view));
        }
        if spec.layout != LayoutId::PLAIN {
            if view.dim(0) != spec.layout_bytes {
                return Err(self.layout(spec, view));
            }
        } else {
            if view.dtype() != spec.dtype {
                return Err(self.error(spec, Clause::DType, spec.dtype.to_string(), view.dtype().to_string()));
            }
            if view.rank() != spec.dims.len() {
                return Err(self.error(spec, Clause::Rank, spec.dims.len().to_string(), view.rank().to_string()));
            }
            self.shape(spec, view)?;
        }
        let mask = spec.alignment() - 1;
        let Some(extent) = view.extent() else { return Err(self.address(spec, view)) };
        if extent.start != extent.end {
            if view.data().is_null() {
                return Err(self.error(spec, Clause::Null, "a valid pointer".to_owned(), "null".to_owned()));
            }
            if view.data() as usize & mask != 0 {
                return Err(self.misaligned(spec, view));
            }
        }
        if spec.promise.contiguous && !view.is_contiguous() {
            return Err(self.error(spec, Clause::Contiguous, "a contiguous tensor".to_owned(), strides(view)));
        }
        self.seen[index] = tensor;
        self.spans[index] = (extent.start, extent.end);
        Ok(())
    }

    #[inline]
    fn shape(&mut self, spec: &'a TensorSpec, view: &RawTensor) -> Result<(), ContractError> {
        // From the innermost dimension outwards: `inner` is the extent of what lies inside.
        let mut inner = 1_isize;
        let (shape, strides) = (view.shape(), view.strides());
        for (axis, dim) in spec.dims.iter().enumerate().rev() {
            let (size, stride) = (shape[axis], strides[axis]);
            let expected = match dim.size.dynamic {
                None => dim.size.add,
                Some(d) if self.bound & (1 << d) != 0 => {
                    self.dims[d as usize].wrapping_mul(dim.size.multiply).wrapping_add(dim.size.add)
                }
                Some(d) => self.bind(spec, axis, d as usize, size)?,
            };
            if size != expected {
                return Err(self.size(spec, axis, expected, size));
            }
            if size > 1 {
                if if dim.strided { stride < inner } else { stride != inner } {
                    return Err(self.stride(spec, axis, inner, view));
                }
                if stride > 1 && spec.promise.alignment != 0 {
                    let bytes = stride as usize * spec.dtype.bits() / 8;
                    if bytes & (spec.promise.alignment - 1) != 0 {
                        return Err(self.misaligned(spec, view));
                    }
                }
                inner = stride.saturating_mul(size as isize);
            }
        }
        Ok(())
    }

    /// The first appearance of a dynamic dimension gives it its value.
    #[inline]
    fn bind(&mut self, spec: &TensorSpec, axis: usize, d: usize, size: usize) -> Result<usize, ContractError> {
        let expr = spec.dims[axis].size;
        let value = size.wrapping_sub(expr.add) / expr.multiply.max(1);
        let param = &self.specs.signature().dims[d];
        if size < expr.add || value < param.min {
            return Err(self.too_small(spec, axis, d, size));
        }
        if self.specs.bounds().get(d).is_some_and(|bound| value > bound) {
            let bound = self.specs.bounds().get(d).unwrap_or(0);
            return Err(self.error(spec, Clause::Bound, at_most(param.name, bound), value.to_string()));
        }
        self.dims[d] = value;
        self.bound |= 1 << d;
        Ok(value.wrapping_mul(expr.multiply).wrapping_add(expr.add))
    }

    /// Checks a scalar against its range.
    ///
    /// # Errors
    /// [`ContractError`] with [`Clause::Range`].
    #[inline]
    pub fn scalar(&self, index: usize, range: &ScalarRange, value: f64) -> Result<(), ContractError> {
        if range.admits(value) { Ok(()) } else { Err(self.range(index, range, value)) }
    }

    /// Checks that no output shares memory with another argument beyond what the contract allows, and answers the
    /// dynamic dimensions.
    ///
    /// # Errors
    /// [`ContractError`] with [`Clause::Overlap`].
    #[inline]
    pub fn finish(self) -> Result<DynDims, ContractError> {
        let count = self.specs.tensors().len();
        for (index, spec) in self.specs.tensors().enumerate() {
            if !spec.role.writes() {
                continue;
            }
            let (start, end) = self.spans[index];
            for other in 0..count {
                let (other_start, other_end) = self.spans[other];
                if start < other_end && other_start < end && other != index && start != end && other_start != other_end
                {
                    self.overlap(spec, index, other)?;
                }
            }
        }
        Ok(DynDims::new(&self.dims[..self.specs.signature().dims.len()]))
    }

    /// Two extents that meet: shared exactly where allowed, or interleaved without a common byte, or an error.
    #[cold]
    fn overlap(&self, spec: &TensorSpec, index: usize, other: usize) -> Result<(), ContractError> {
        let (Some(a), Some(b)) = (self.seen[index], self.seen[other]) else { return Ok(()) };
        let Some(other_spec) = self.specs.tensor(other) else { return Ok(()) };
        if a.device() != b.device() || !may_share(a, b) {
            return Ok(());
        }
        let declared = spec.aliases.contains(&other) || other_spec.aliases.contains(&index);
        if declared && is_same(a, b) {
            return Ok(());
        }
        let expected = if declared {
            format!("memory apart from `{o}`, or exactly the memory of `{o}`", o = other_spec.name)
        } else {
            format!("memory apart from `{}`", other_spec.name)
        };
        Err(self.error(spec, Clause::Overlap, expected, format!("{a:?} and {b:?}")))
    }

    #[cold]
    fn error(&self, spec: &TensorSpec, clause: Clause, expected: String, actual: String) -> ContractError {
        let operation = self.specs.signature().operation;
        ContractError { operation, argument: spec.name, clause, expected, actual }
    }

    #[cold]
    fn absence(&self, spec: &TensorSpec) -> ContractError {
        self.error(spec, Clause::Presence, format!("a {} tensor", spec.dtype), "none".to_owned())
    }

    #[cold]
    fn unwanted(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        self.error(spec, Clause::Presence, "none, as the problem says".to_owned(), format!("{view:?}"))
    }

    #[cold]
    fn layout(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let text = |id: LayoutId, bytes: usize| match id {
            LayoutId::PLAIN => "a plain tensor".to_owned(),
            id => format!("packed layout {:016x} of {bytes} bytes", id.0),
        };
        let (expected, actual) = (text(spec.layout, spec.layout_bytes), text(view.layout(), view.dim(0)));
        self.error(spec, Clause::Layout, expected, actual)
    }

    #[cold]
    fn address(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        self.error(spec, Clause::Address, "a span inside the address space".to_owned(), format!("{view:?}"))
    }

    #[cold]
    fn size(&self, spec: &TensorSpec, axis: usize, expected: usize, actual: usize) -> ContractError {
        let name = self
            .specs
            .signature()
            .tensor(spec.name)
            .map_or("", |i| self.specs.signature().tensors[i].dims.get(axis).map_or("", |d| d.text));
        let expected = format!("{name} = {expected} in dimension {axis}");
        self.error(spec, Clause::Shape, expected, actual.to_string())
    }

    #[cold]
    fn too_small(&self, spec: &TensorSpec, axis: usize, d: usize, size: usize) -> ContractError {
        let (param, expr) = (&self.specs.signature().dims[d], spec.dims[axis].size);
        let least = param.min.saturating_mul(expr.multiply).saturating_add(expr.add);
        let expected = format!("at least {least} in dimension {axis}, for {} >= {}", param.name, param.min);
        self.error(spec, Clause::Minimum, expected, size.to_string())
    }

    #[cold]
    fn stride(&self, spec: &TensorSpec, axis: usize, inner: isize, view: &RawTensor) -> ContractError {
        let least = if spec.dims[axis].strided { "at least " } else { "" };
        let expected = format!("stride {least}{inner} in dimension {axis}");
        self.error(spec, Clause::Stride, expected, strides(view))
    }

    #[cold]
    fn misaligned(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let expected = format!("pointer and row strides at multiples of {} bytes", spec.alignment());
        self.error(spec, Clause::Alignment, expected, format!("{:p} with {}", view.data(), strides(view)))
    }

    #[cold]
    fn range(&self, index: usize, range: &ScalarRange, value: f64) -> ContractError {
        let signature = self.specs.signature();
        ContractError {
            operation: signature.operation,
            argument: signature.scalars.get(index).map_or("", |s| s.name),
            clause: Clause::Range,
            expected: range.text(),
            actual: value.to_string(),
        }
    }
}

fn strides(view: &RawTensor) -> String {
    format!("strides {:?} for shape {:?}", view.strides(), view.shape())
}

fn at_most(name: &str, bound: usize) -> String {
    format!("{name} of at most {bound}, the bound of the problem")
}
