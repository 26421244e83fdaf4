// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Safe views over slices: the lifetime and the bounds that a raw view leaves out.

use std::marker::PhantomData;

use crate::{DeviceId, Element, RawTensor, ViewError};

/// A read-only CPU view borrowed from a slice.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a, T> {
    raw: RawTensor,
    slice: PhantomData<&'a [T]>,
}

/// A writable CPU view borrowed from a slice.
#[derive(Debug)]
pub struct TensorMut<'a, T> {
    raw: RawTensor,
    slice: PhantomData<&'a mut [T]>,
}

/// Checks that every element of `raw` lies within `available` elements from its start.
fn bounded(raw: RawTensor, available: usize) -> Result<RawTensor, ViewError> {
    let mut needed = 1_u128;
    for (axis, (&size, &stride)) in raw.shape().iter().zip(raw.strides()).enumerate() {
        if stride < 0 {
            return Err(ViewError::Stride { axis, stride, rule: "a slice is viewed from its first element forwards" });
        }
        if size == 0 {
            return Ok(raw);
        }
        needed = needed.saturating_add((size as u128 - 1).saturating_mul(stride as u128));
    }
    if needed > available as u128 {
        return Err(ViewError::OutOfBounds {
            shape: raw.shape().to_vec(),
            strides: raw.strides().to_vec(),
            needed,
            available,
        });
    }
    Ok(raw)
}

impl<'a, T: Element> TensorRef<'a, T> {
    /// A contiguous view of the first elements of `slice`.
    ///
    /// # Errors
    /// [`ViewError`] when the shape needs more elements than there are.
    pub fn new(slice: &'a [T], shape: &[usize]) -> Result<Self, ViewError> {
        let raw = RawTensor::contiguous(slice.as_ptr() as *mut u8, T::DTYPE, DeviceId::CPU, shape)?;
        Ok(TensorRef { raw: bounded(raw, slice.len())?, slice: PhantomData })
    }

    /// A view with strides in elements.
    ///
    /// # Errors
    /// [`ViewError`] when a stride is negative or the view leaves the slice.
    pub fn strided(slice: &'a [T], shape: &[usize], strides: &[isize]) -> Result<Self, ViewError> {
        let raw = RawTensor::strided(slice.as_ptr() as *mut u8, T::DTYPE, DeviceId::CPU, shape, strides)?;
        Ok(TensorRef { raw: bounded(raw, slice.len())?, slice: PhantomData })
    }

    /// The raw view. It outlives the borrow, so the caller of an unsafe function answers for that.
    #[inline]
    pub fn raw(&self) -> RawTensor {
        self.raw
    }
}

impl<'a, T: Element> TensorMut<'a, T> {
    /// A contiguous view of the first elements of `slice`.
    ///
    /// # Errors
    /// [`ViewError`] when the shape needs more elements than there are.
    pub fn new(slice: &'a mut [T], shape: &[usize]) -> Result<Self, ViewError> {
        let raw = RawTensor::contiguous(slice.as_mut_ptr() as *mut u8, T::DTYPE, DeviceId::CPU, shape)?;
        Ok(TensorMut { raw: bounded(raw, slice.len())?, slice: PhantomData })
    }

    /// A view with strides in elements. Elements of a writable view may not overlap: each stride of a dimension larger
    /// than one is at least the extent of the dimensions inside it.
    ///
    /// # Errors
    /// [`ViewError`] when elements would overlap or the view leaves the slice.
    pub fn strided(slice: &'a mut [T], shape: &[usize], strides: &[isize]) -> Result<Self, ViewError> {
        let raw = RawTensor::strided(slice.as_mut_ptr() as *mut u8, T::DTYPE, DeviceId::CPU, shape, strides)?;
        let mut inner = 1_u128;
        for (axis, (&size, &stride)) in shape.iter().zip(strides).enumerate().rev() {
            if size > 1 {
                if stride < 0 || (stride as u128) < inner {
                    return Err(ViewError::Stride {
                        axis,
                        stride,
                        rule: "elements of a writable view must not overlap",
                    });
                }
                inner = (stride as u128).saturating_mul(size as u128);
            }
        }
        Ok(TensorMut { raw: bounded(raw, slice.len())?, slice: PhantomData })
    }

    /// The raw view. It outlives the borrow, so the caller of an unsafe function answers for that.
    #[inline]
    pub fn raw(&self) -> RawTensor {
        self.raw
    }
}
