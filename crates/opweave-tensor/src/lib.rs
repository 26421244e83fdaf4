// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tensor views over memory that somebody else owns.
//!
//! Everything in opweave talks about tensors through [`RawTensor`]: a pointer, a dtype, a device, a shape and strides.
//! It is `Copy` and carries no lifetime because device work is asynchronous and graphs record calls; whoever owns the
//! memory keeps it alive. On the CPU, [`TensorRef`] and [`TensorMut`] put the lifetime back for slices.
//!
//! This crate allocates nothing and knows no operator.

mod device;
mod dlpack;
mod dtype;
mod eight;
mod element;
mod erased;
mod error;
mod raw;
mod slice;

pub use device::{DeviceId, DeviceKind, ParseDeviceError};
pub use dlpack::{DLDataType, DLDevice, DLTensor, DlpackExport};
pub use dtype::{DType, ParseDTypeError};
pub use eight::{F8E4M3, F8E5M2, F8E8M0};
pub use element::Element;
pub use erased::{AnyMut, AnyRef, Output};
pub use error::ViewError;
pub use raw::{Extent, LayoutId, MAX_RANK, RawTensor};
pub use slice::{TensorMut, TensorRef};
