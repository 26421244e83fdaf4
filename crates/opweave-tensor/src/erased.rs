// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Borrowed views without their element type: what an operator function takes when the problem says the dtype.

use std::marker::PhantomData;

use crate::{DeviceId, Element, LayoutId, RawTensor, TensorMut, TensorRef};

/// A read-only CPU view whose element type is a value.
#[derive(Clone, Copy, Debug)]
pub struct AnyRef<'a> {
    raw: RawTensor,
    memory: PhantomData<&'a [u8]>,
}

/// A writable CPU view whose element type is a value.
#[derive(Debug)]
pub struct AnyMut<'a> {
    raw: RawTensor,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> AnyRef<'a> {
    /// A weight that was packed into these bytes, in the layout `layout`.
    pub fn packed(bytes: &'a [u8], layout: LayoutId) -> Self {
        let raw = RawTensor::packed(bytes.as_ptr().cast_mut(), DeviceId::CPU, bytes.len(), layout);
        AnyRef { raw, memory: PhantomData }
    }

    /// The raw view. It outlives the borrow, so the caller of an unsafe function answers for that.
    #[inline]
    pub fn raw(&self) -> RawTensor {
        self.raw
    }
}

impl AnyMut<'_> {
    /// The raw view. It outlives the borrow, so the caller of an unsafe function answers for that.
    #[inline]
    pub fn raw(&self) -> RawTensor {
        self.raw
    }
}

impl<'a, T: Element> From<TensorRef<'a, T>> for AnyRef<'a> {
    #[inline]
    fn from(view: TensorRef<'a, T>) -> Self {
        AnyRef { raw: view.raw(), memory: PhantomData }
    }
}

impl<'a, T: Element> From<TensorMut<'a, T>> for AnyMut<'a> {
    #[inline]
    fn from(view: TensorMut<'a, T>) -> Self {
        AnyMut { raw: view.raw(), memory: PhantomData }
    }
}

/// Where an operator puts its result: into memory of its own, or in place of the input.
#[derive(Debug)]
pub enum Output<'a> {
    /// The input and the memory for the result.
    Apart(AnyRef<'a>, AnyMut<'a>),
    /// The input, which the result replaces.
    InPlace(AnyMut<'a>),
}

impl<'a> Output<'a> {
    /// A result apart from the input.
    #[inline]
    pub fn apart(input: impl Into<AnyRef<'a>>, out: impl Into<AnyMut<'a>>) -> Self {
        Output::Apart(input.into(), out.into())
    }

    /// A result in place of the input.
    #[inline]
    pub fn in_place(tensor: impl Into<AnyMut<'a>>) -> Self {
        Output::InPlace(tensor.into())
    }

    /// The views of input and result.
    #[inline]
    pub fn raw(&self) -> (RawTensor, RawTensor) {
        match self {
            Output::Apart(input, out) => (input.raw(), out.raw()),
            Output::InPlace(tensor) => (tensor.raw(), tensor.raw()),
        }
    }
}
