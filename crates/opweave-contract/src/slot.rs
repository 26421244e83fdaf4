// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Glue between the fields of an argument struct and the generic check: optional and required tensors alike.

use opweave_tensor::{DType, RawTensor};

/// A field that holds a tensor, or may hold one.
pub trait TensorSlot: Copy {
    /// The tensor, if it is there.
    fn get(&self) -> Option<&RawTensor>;
    /// Puts a tensor, or its absence, into a field. A required field never sees `None`: its spec is always present.
    fn put(tensor: Option<RawTensor>) -> Self;
}

impl TensorSlot for RawTensor {
    #[inline(always)]
    fn get(&self) -> Option<&RawTensor> {
        Some(self)
    }
    fn put(tensor: Option<RawTensor>) -> Self {
        tensor.unwrap_or_else(|| {
            RawTensor::packed(std::ptr::null_mut(), opweave_tensor::DeviceId::CPU, 0, opweave_tensor::LayoutId::PLAIN)
        })
    }
}

impl TensorSlot for Option<RawTensor> {
    #[inline(always)]
    fn get(&self) -> Option<&RawTensor> {
        self.as_ref()
    }
    fn put(tensor: Option<RawTensor>) -> Self {
        tensor
    }
}

/// An expression that names a dtype, or none for an absent tensor.
pub trait DTypeExpr {
    /// The dtype.
    fn dtype(self) -> Option<DType>;
}

impl DTypeExpr for DType {
    fn dtype(self) -> Option<DType> {
        Some(self)
    }
}

impl DTypeExpr for Option<DType> {
    fn dtype(self) -> Option<DType> {
        self
    }
}

/// A scalar argument: widened for checks and for the harness.
pub trait ScalarArg: Copy {
    /// The value as f64.
    fn widen(self) -> f64;
    /// The nearest value of this type.
    fn narrow(value: f64) -> Self;
}

macro_rules! scalars {
    ($($ty:ty),*) => {$(
        impl ScalarArg for $ty {
            #[inline(always)]
            fn widen(self) -> f64 {
                self as f64
            }
            fn narrow(value: f64) -> Self {
                value as $ty
            }
        }
    )*};
}

scalars!(f32, f64, i32, u32);
