// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An operator's arguments for one problem: the signature with every shape expression resolved.

use opweave_tensor::{DType, DeviceId, LayoutId, MAX_RANK, RawTensor};

use crate::{Bounds, DimExpr, DynDims, Placement, Promise, Role, ScalarParam, Signature};

/// One dimension of one argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DimSpec {
    /// Its size.
    pub size: DimExpr,
    /// Whether its stride may exceed the extent inside it.
    pub strided: bool,
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
        if self.layout != LayoutId::PLAIN {
            return self.layout_align.max(self.promise.alignment);
        }
        self.promise.alignment.max(self.dtype.alignment())
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
        let dims = dims.iter().zip(param.dims).map(|(&size, p)| DimSpec { size, strided: p.strided });
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
        });
    }

    /// The same arguments on another device.
    #[must_use]
    pub fn on(mut self, device: DeviceId) -> Self {
        self.device = device;
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
