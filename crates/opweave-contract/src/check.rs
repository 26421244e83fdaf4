// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The one validation of a call. It compares numbers that were resolved at prepare; everything that forms a message is
//! out of line.

use opweave_tensor::{DeviceId, LayoutId, RawTensor};

use crate::{
    ArgSpecs, Clause, ContractError, DimSpec, DynDims, MAX_DYNAMIC, Placement, ScalarRange, TensorSpec,
    overlap::{is_same, may_share},
};

/// Checks the `N` tensors and the scalars of one call, in signature order.
#[derive(Debug)]
pub struct Checker<'a, const N: usize> {
    specs: &'a ArgSpecs,
    tensors: &'a [TensorSpec; N],
    seen: [Option<&'a RawTensor>; N],
    spans: [(usize, usize); N],
    dims: [usize; MAX_DYNAMIC],
}

impl<'a, const N: usize> Checker<'a, N> {
    /// The specs of the `N` tensors.
    ///
    /// # Errors
    /// [`ContractError`] for specs of another operator, which have another number of tensors.
    #[inline(always)]
    pub fn tensors(specs: &'a ArgSpecs) -> Result<&'a [TensorSpec; N], ContractError> {
        specs.array().ok_or_else(|| foreign(specs, N))
    }

    /// A check that has seen nothing. Not fallible, so that the check stays where it is built.
    #[inline(always)]
    pub fn new(specs: &'a ArgSpecs, tensors: &'a [TensorSpec; N]) -> Self {
        Checker { specs, tensors, seen: [None; N], spans: [(0, 0); N], dims: [0; MAX_DYNAMIC] }
    }

    /// Checks the tensor at `index` of the signature, of `RANK` dimensions. The rank is a constant so that the walk over
    /// the dimensions is unrolled: this is the most of what a checked call costs.
    ///
    /// # Errors
    /// [`ContractError`] for presence, device, layout, dtype, rank, shape, stride, promise, null pointer, alignment or
    /// address.
    #[inline(always)]
    pub fn tensor<const RANK: usize>(
        &mut self,
        index: usize,
        tensor: Option<&'a RawTensor>,
    ) -> Result<(), ContractError> {
        let spec = &self.tensors[index];
        let Some(view) = tensor else {
            return if spec.present { Err(self.absence(spec)) } else { Ok(()) };
        };
        if !spec.present {
            return Err(self.unwanted(spec, view));
        }
        if view.head() != spec.head {
            return Err(self.head(spec, view));
        }
        if view.layout() != spec.layout || (spec.layout != LayoutId::PLAIN && view.dim(0) != spec.layout_bytes) {
            return Err(self.layout(spec, view));
        }
        let bytes = match spec.dims.first_chunk::<RANK>() {
            Some(dims) if spec.layout == LayoutId::PLAIN => self.shape(spec, dims, view)?,
            _ => view.dim(0),
        };
        if bytes == 0 {
            return Ok(());
        }
        let start = view.data() as usize;
        if start == 0 {
            return Err(self.error(spec, Clause::Null, "a valid pointer".to_owned(), "null".to_owned()));
        }
        if start & spec.alignment_mask != 0 {
            return Err(self.misaligned(spec, view));
        }
        let Some(end) = start.checked_add(bytes) else { return Err(self.address(spec, view)) };
        self.seen[index] = tensor;
        self.spans[index] = (start, end);
        Ok(())
    }

    /// Checks sizes and strides, and answers how many bytes the view spans from its start.
    #[inline(always)]
    fn shape<const RANK: usize>(
        &mut self,
        spec: &TensorSpec,
        dims: &[DimSpec; RANK],
        view: &RawTensor,
    ) -> Result<usize, ContractError> {
        // From the innermost dimension outwards. `inner` is the extent of what lies inside, `reach` the offset of the
        // last element; strides that pass never make `reach` exceed `inner`, so one overflow check is enough.
        let (mut inner, mut reach, mut elements) = (1_usize, 0_usize, 1_usize);
        for axis in (0..RANK).rev() {
            let (dim, (size, stride)) = (&dims[axis], view.axis(axis));
            if dim.binds {
                self.bind(spec, dim, size)?;
            }
            // A fixed size multiplies its dynamic dimension, whichever, by zero.
            let dynamic = self.dims[dim.index as usize & (MAX_DYNAMIC - 1)];
            if size != dynamic.wrapping_mul(dim.size.multiply).wrapping_add(dim.size.add) {
                return Err(self.size(spec, view));
            }
            if size <= 1 {
                elements &= size;
                continue;
            }
            let step = stride as usize;
            if step != inner && (stride < 0 || step < inner || !dim.strided) {
                return if spec.free { self.crossed(spec, view) } else { Err(self.stride(spec, view)) };
            }
            reach = reach.wrapping_add((size - 1).wrapping_mul(step));
            inner = match step.checked_mul(size) {
                Some(extent) => extent,
                None => return Err(self.address(spec, view)),
            };
        }
        self.span(spec, view, inner, reach, elements)
    }

    /// The bytes of a view whose strides passed.
    #[inline(always)]
    fn span(
        &self,
        spec: &TensorSpec,
        view: &RawTensor,
        inner: usize,
        reach: usize,
        elements: usize,
    ) -> Result<usize, ContractError> {
        if spec.promises {
            self.promise(spec, view)?;
        }
        match inner.checked_mul(spec.bits) {
            Some(extent) if extent <= isize::MAX as usize => Ok(((reach + 1) * spec.bits).div_ceil(8) * elements),
            _ => Err(self.address(spec, view)),
        }
    }

    /// Checks a view whose second dimension may lie outside its first, and does: as [`Self::shape`], with the two exchanged.
    #[cold]
    fn crossed(&mut self, spec: &TensorSpec, view: &RawTensor) -> Result<usize, ContractError> {
        let (mut inner, mut reach, mut elements) = (1_usize, 0_usize, 1_usize);
        let order = (2..view.rank()).rev().chain([0, 1]);
        for axis in order {
            let (dim, (size, stride)) = (&spec.dims[axis], view.axis(axis));
            if dim.binds {
                self.bind(spec, dim, size)?;
            }
            let dynamic = self.dims[dim.index as usize & (MAX_DYNAMIC - 1)];
            if size != dynamic.wrapping_mul(dim.size.multiply).wrapping_add(dim.size.add) {
                return Err(self.size(spec, view));
            }
            if size <= 1 {
                elements &= size;
                continue;
            }
            let step = stride as usize;
            if step != inner && (stride < 0 || step < inner || !dim.strided) {
                return Err(self.stride(spec, view));
            }
            reach = reach.wrapping_add((size - 1).wrapping_mul(step));
            inner = step.checked_mul(size).ok_or_else(|| self.address(spec, view))?;
        }
        self.span(spec, view, inner, reach, elements)
    }

    /// Checks that one dynamic dimension is at most another; both are bound.
    ///
    /// # Errors
    /// [`ContractError`] with [`Clause::Bound`].
    #[inline(always)]
    pub fn at_most(&self, fewer: usize, more: usize) -> Result<(), ContractError> {
        let (a, b) = (self.dims[fewer & (MAX_DYNAMIC - 1)], self.dims[more & (MAX_DYNAMIC - 1)]);
        if a <= b { Ok(()) } else { Err(self.too_many(fewer, more)) }
    }

    #[cold]
    fn too_many(&self, fewer: usize, more: usize) -> ContractError {
        let name = |index: usize| self.specs.signature().dims.get(index).map_or("", |d| d.name);
        let shown =
            |index: usize| self.tensors.iter().find(|t| t.dims.iter().any(|d| d.binds && d.index as usize == index));
        ContractError {
            operation: self.specs.signature().operation,
            argument: shown(fewer).map_or("", |t| t.name),
            clause: Clause::Bound,
            expected: format!("{} <= {} = {}", name(fewer), name(more), self.dims[more & (MAX_DYNAMIC - 1)]),
            actual: self.dims[fewer & (MAX_DYNAMIC - 1)].to_string(),
        }
    }

    /// Checks what the problem promises beyond the contract.
    fn promise(&self, spec: &TensorSpec, view: &RawTensor) -> Result<(), ContractError> {
        if spec.promise.contiguous && !view.is_contiguous() {
            return Err(self.error(spec, Clause::Contiguous, "a contiguous tensor".to_owned(), strides_of(view)));
        }
        let unaligned = |(&size, &stride): (&usize, &isize)| {
            size > 1 && stride != 1 && ((stride as usize).wrapping_mul(spec.bits) / 8) & spec.alignment_mask != 0
        };
        if spec.promise.alignment > 0 && view.shape().iter().zip(view.strides()).any(unaligned) {
            return Err(self.misaligned(spec, view));
        }
        Ok(())
    }

    /// Reads a dynamic dimension off the place that gives it its value.
    #[inline(always)]
    fn bind(&mut self, spec: &TensorSpec, dim: &DimSpec, size: usize) -> Result<(), ContractError> {
        let d = dim.index as usize & (MAX_DYNAMIC - 1);
        let value = if dim.size.multiply == 1 {
            size.wrapping_sub(dim.size.add)
        } else {
            size.wrapping_sub(dim.size.add) / dim.size.multiply.max(1)
        };
        let (min, max) = self.specs.range(d);
        if size < dim.size.add || value < min || value > max {
            return Err(self.bound(spec, dim, size, value));
        }
        self.dims[d] = value;
        Ok(())
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
    #[inline(always)]
    pub fn finish(&self) -> Result<DynDims, ContractError> {
        for index in 0..N {
            let (start, end) = self.spans[index];
            let spec = &self.tensors[index];
            if !spec.role.writes() {
                continue;
            }
            for other in 0..N {
                let (other_start, other_end) = self.spans[other];
                // An empty or absent tensor spans 0..0 and meets nothing.
                if start < other_end && other_start < end && other != index {
                    self.overlap(spec, index, other)?;
                }
            }
        }
        Ok(DynDims::from_array(self.dims, self.specs.signature().dims.len()))
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
    fn head(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let device = if spec.placement == Placement::Host { DeviceId::CPU } else { self.specs.device() };
        if view.device() != device {
            return self.error(spec, Clause::Device, device.to_string(), view.device().to_string());
        }
        if view.layout() != spec.layout {
            return self.layout(spec, view);
        }
        if view.dtype() != spec.dtype && spec.layout == LayoutId::PLAIN {
            return self.error(spec, Clause::DType, spec.dtype.to_string(), view.dtype().to_string());
        }
        self.error(spec, Clause::Rank, spec.dims.len().to_string(), view.rank().to_string())
    }

    #[cold]
    fn bound(&self, spec: &TensorSpec, dim: &DimSpec, size: usize, value: usize) -> ContractError {
        let (min, max) = self.specs.range(dim.index as usize);
        let name = self.specs.signature().dims.get(dim.index as usize).map_or("", |d| d.name);
        if size < dim.size.add || value < min {
            let least = min.saturating_mul(dim.size.multiply).saturating_add(dim.size.add);
            let expected = format!("at least {least}, for {name} >= {min}");
            return self.error(spec, Clause::Minimum, expected, size.to_string());
        }
        let expected = format!("{name} of at most {max}, the bound of the problem");
        self.error(spec, Clause::Bound, expected, value.to_string())
    }

    /// Finds the innermost size that is wrong.
    #[cold]
    fn size(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let dims = DynDims::from_array(self.dims, MAX_DYNAMIC);
        let wrong = |axis: &usize| view.dim(*axis) != spec.dims[*axis].size.resolve(&dims);
        let axis = (0..spec.dims.len()).rev().find(wrong).unwrap_or(0);
        let param = self.specs.signature().tensor(spec.name).map(|i| &self.specs.signature().tensors[i]);
        let text = param.and_then(|p| p.dims.get(axis)).map_or("", |d| d.text);
        let expected = format!("{text} = {} in dimension {axis}", spec.dims[axis].size.resolve(&dims));
        self.error(spec, Clause::Shape, expected, view.dim(axis).to_string())
    }

    /// Finds the innermost stride that is wrong.
    #[cold]
    fn stride(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let mut inner = 1_isize;
        for axis in (0..spec.dims.len()).rev().filter(|&a| view.dim(a) > 1) {
            let (stride, free) = (view.stride(axis), spec.dims[axis].strided);
            if stride < inner || (stride > inner && !free) {
                let least = if free { "at least " } else { "" };
                let expected = format!("stride {least}{inner} in dimension {axis}");
                return self.error(spec, Clause::Stride, expected, strides_of(view));
            }
            inner = stride.saturating_mul(view.dim(axis) as isize);
        }
        self.error(spec, Clause::Stride, "strides of the contract".to_owned(), strides_of(view))
    }

    #[cold]
    fn misaligned(&self, spec: &TensorSpec, view: &RawTensor) -> ContractError {
        let expected = format!("pointer and row strides at multiples of {} bytes", spec.alignment());
        self.error(spec, Clause::Alignment, expected, format!("{:p} with {}", view.data(), strides_of(view)))
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

fn strides_of(view: &RawTensor) -> String {
    format!("strides {:?} for shape {:?}", view.strides(), view.shape())
}

#[cold]
fn foreign(specs: &ArgSpecs, tensors: usize) -> ContractError {
    ContractError {
        operation: specs.signature().operation,
        argument: "specs",
        clause: Clause::Presence,
        expected: format!("{tensors} tensors"),
        actual: format!("{} tensors, of {}", specs.tensors().len(), specs.signature().operation),
    }
}
