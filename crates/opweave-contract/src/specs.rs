// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An operator's arguments for one problem: the signature with every shape expression resolved.

use opweave_tensor::{DType, DeviceId, LayoutId, MAX_RANK, RawTensor};

use crate::{Bounds, DimExpr, DynDims, MAX_DYNAMIC, Placement, Promise, Role, ScalarParam, Signature};

/// One dimension of one argument. Equal when size and stride rule are.
#[derive(Clone, Copy, Debug)]
pub struct DimSpec {
    /// Its size.
    pub size: DimExpr,
    /// Whether its stride may exceed the extent inside it.
    pub strided: bool,
    /// Whether it may also lie outside the dimension before it.
    pub free: bool,
    /// Whether this is the place at which a call shows the value of its dynamic dimension.
    pub(crate) binds: bool,
    /// The dynamic dimension; 0 for a fixed size, which multiplies it by zero.
    pub(crate) index: u8,
}

impl PartialEq for DimSpec {
    fn eq(&self, other: &Self) -> bool {
        (self.size, self.strided, self.free) == (other.size, other.strided, other.free)
    }
}

/// One tensor argument.
#[derive(Clone, PartialEq, Debug)]
pub struct TensorSpec {
    /// Its name.
    pub name: &'static str,
    /// How it is used.
    pub role: Role,
    /// Where it is.
    pub placement: Placement,
    /// Whether the problem has it.
    pub present: bool,
    /// Whether a plan may want it packed.
    pub packed: bool,
    /// Its dtype; meaningless when absent.
    pub dtype: DType,
    /// Its dimensions, outermost first.
    pub dims: Vec<DimSpec>,
    /// Arguments with which it may share storage exactly, by index.
    pub aliases: Vec<usize>,
    /// What the problem promises of it.
    pub promise: Promise,
    /// The packed layout that the chosen plan reads; plain until a plan is chosen.
    pub layout: LayoutId,
    /// Bytes of the packed layout; 0 when plain.
    pub layout_bytes: usize,
    /// Alignment of the packed layout; 1 when plain.
    pub layout_align: usize,
    /// Alignment of the pointer less one: formed once, read by every call.
    pub(crate) alignment_mask: usize,
    /// Bits of one element: formed once, read by every call.
    pub(crate) bits: usize,
    /// Whether anything is promised that a call can be checked for.
    pub(crate) promises: bool,
    /// Whether its second dimension may lie outside its first.
    pub(crate) free: bool,
    /// Dtype, rank and device as one number: formed once, compared at every call.
    pub(crate) head: u64,
}

impl TensorSpec {
    /// Its shape for given dynamic dimensions.
    pub fn shape(&self, dims: &DynDims) -> Vec<usize> {
        self.dims.iter().map(|d| d.size.resolve(dims)).collect()
    }

    /// Its size in bytes for given dynamic dimensions, saturating.
    pub fn bytes(&self, dims: &DynDims) -> usize {
        let elements = self.dims.iter().fold(1_usize, |n, d| n.saturating_mul(d.size.resolve(dims)));
        elements.saturating_mul(self.dtype.bits()).div_ceil(8)
    }

    /// The alignment in bytes that a pointer must have.
    pub fn alignment(&self) -> usize {
        self.alignment_mask + 1
    }
}

/// All arguments of an operator for one problem on one device.
#[derive(Clone, Debug)]
pub struct ArgSpecs {
    signature: &'static Signature,
    tensors: Vec<TensorSpec>,
    bounds: Bounds,
    device: DeviceId,
}

impl ArgSpecs {
    /// Specs of `signature`, filled by [`ArgSpecs::tensor`] in signature order. Views are expected on the CPU until
    /// [`ArgSpecs::on`] says otherwise.
    pub fn new(signature: &'static Signature, bounds: Bounds) -> Self {
        ArgSpecs { signature, tensors: Vec::with_capacity(signature.tensors.len()), bounds, device: DeviceId::CPU }
    }

    /// Appends the next tensor of the signature: `dtype` is `None` when the problem leaves it out.
    pub fn push(&mut self, dtype: Option<DType>, dims: &[DimExpr], promise: Promise) {
        let Some(param) = self.signature.tensors.get(self.tensors.len()) else { return };
        let dims = dims.iter().zip(param.dims).map(|(&size, p)| DimSpec {
            size,
            strided: p.strided,
            free: p.free,
            binds: false,
            index: size.dynamic.unwrap_or(0),
        });
        self.tensors.push(TensorSpec {
            name: param.name,
            role: param.role,
            placement: param.placement,
            present: dtype.is_some(),
            packed: param.packed,
            dtype: dtype.unwrap_or(DType::U8),
            dims: dims.take(MAX_RANK).collect(),
            aliases: param.aliases.iter().filter_map(|a| self.signature.tensor(a)).collect(),
            promise,
            layout: LayoutId::PLAIN,
            layout_bytes: 0,
            layout_align: 1,
            alignment_mask: 0,
            bits: dtype.map_or(8, DType::bits),
            promises: promise.alignment > 0 || promise.contiguous,
            free: param.dims.iter().any(|d| d.free),
            head: 0,
        });
        self.settle();
    }

    /// Forms what calls compare against: the head of each tensor, and for each dynamic dimension the first present,
    /// plain tensor that shows it.
    fn settle(&mut self) {
        let mut bound = [false; MAX_DYNAMIC];
        for spec in &mut self.tensors {
            let plain = spec.layout == LayoutId::PLAIN;
            let (dtype, rank) = if plain { (spec.dtype, spec.dims.len()) } else { (DType::U8, 1) };
            let device = if spec.placement == Placement::Host { DeviceId::CPU } else { self.device };
            let least = if plain { spec.dtype.alignment() } else { spec.layout_align };
            spec.alignment_mask = spec.promise.alignment.max(least) - 1;
            spec.head = RawTensor::head_of(dtype, rank, device);
            // The check walks from the innermost dimension outwards, and so does this.
            for dim in spec.dims.iter_mut().rev() {
                let slot = dim.size.dynamic.and_then(|d| bound.get_mut(d as usize));
                dim.binds = slot.is_some_and(|b| spec.present && plain && !std::mem::replace(b, true));
            }
        }
    }

    /// Smallest and largest legal value of the dynamic dimension `index`.
    #[inline]
    pub(crate) fn range(&self, index: usize) -> (usize, usize) {
        let min = self.signature.dims.get(index).map_or(0, |d| d.min);
        (min, self.bounds.get(index).unwrap_or(usize::MAX))
    }

    /// The same arguments on another device.
    #[must_use]
    pub fn on(mut self, device: DeviceId) -> Self {
        self.device = device;
        self.settle();
        self
    }

    /// The same arguments with the packed weight in the layout that a plan wants: its identity, its size in bytes, and
    /// its alignment, a power of two.
    #[must_use]
    pub fn with_layout(mut self, layout: LayoutId, bytes: usize, align: usize) -> Self {
        for spec in self.tensors.iter_mut().filter(|s| s.packed) {
            spec.layout = layout;
            spec.layout_bytes = bytes;
            spec.layout_align = align.max(1);
        }
        self.settle();
        self
    }

    /// The signature.
    pub fn signature(&self) -> &'static Signature {
        self.signature
    }

    /// The device of device arguments.
    #[inline]
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The bounds of the dynamic dimensions.
    #[inline]
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The tensors in signature order.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = &TensorSpec> {
        self.tensors.iter()
    }

    /// The tensors as an array, if there are `N`.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&self) -> Option<&[TensorSpec; N]> {
        self.tensors.as_slice().try_into().ok()
    }

    /// The tensor at `index`.
    #[inline]
    pub fn tensor(&self, index: usize) -> Option<&TensorSpec> {
        self.tensors.get(index)
    }

    /// The outputs (fresh and in-out) with shape, dtype and device, from metadata alone: what inference answers.
    pub fn outputs(&self, dims: &DynDims) -> Vec<OutputSpec> {
        let of = |s: &TensorSpec| OutputSpec {
            name: s.name,
            shape: s.shape(dims),
            dtype: s.dtype,
            device: if s.placement == Placement::Host { DeviceId::CPU } else { self.device },
        };
        self.tensors.iter().filter(|s| s.present && s.role.writes()).map(of).collect()
    }
}

/// One output as inference describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputSpec {
    /// The argument.
    pub name: &'static str,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its dtype.
    pub dtype: DType,
    /// Its device.
    pub device: DeviceId,
}

/// Supplies arguments to [`crate::Operator::assemble`].
pub trait ArgSource {
    /// Why an argument could not be supplied.
    type Error;
    /// A view for the tensor at `index` of the signature, which the problem has.
    ///
    /// # Errors
    /// Whatever the source cannot do, such as an allocation that failed.
    fn tensor(&mut self, index: usize, spec: &TensorSpec) -> Result<RawTensor, Self::Error>;
    /// A value for a scalar.
    fn scalar(&mut self, param: &ScalarParam) -> f64;
}

/// Receives the arguments of a call in signature order.
pub trait ArgVisitor {
    /// One tensor; `None` when it is absent.
    fn tensor(&mut self, index: usize, tensor: Option<&RawTensor>);
    /// One scalar, widened.
    fn scalar(&mut self, index: usize, value: f64);
}
