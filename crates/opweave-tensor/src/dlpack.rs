// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! DLPack interchange: the C structs of <https://dmlc.github.io/dlpack/> and the conversions both ways.
//!
//! Ownership (`DLManagedTensor` and its deleter) stays with the caller: opweave borrows memory and never frees it.

use crate::{DType, DeviceId, DeviceKind, MAX_RANK, RawTensor, ViewError};
use std::ffi::c_void;

/// `DLDevice` of `dlpack.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDevice {
    /// `DLDeviceType`: 1 CPU, 2 CUDA, 3 CUDA pinned host, 12 extension device (Ascend's convention).
    pub device_type: i32,
    /// Index of the device.
    pub device_id: i32,
}

/// `DLDataType` of `dlpack.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDataType {
    /// `DLDataTypeCode`: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 8 and up the 8-bit and smaller floats.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes of a vector type; only 1 is supported.
    pub lanes: u16,
}

/// `DLTensor` of `dlpack.h`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DLTensor {
    /// Start of the allocation.
    pub data: *mut c_void,
    /// Where it lives.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Element type.
    pub dtype: DLDataType,
    /// `ndim` sizes.
    pub shape: *mut i64,
    /// `ndim` strides in elements, or null for a contiguous tensor.
    pub strides: *mut i64,
    /// Offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// `DLDataTypeCode` and width of each dtype that DLPack 1.1 can name.
const CODES: &[(DType, u8, u8)] = &[
    (DType::I8, 0, 8),
    (DType::I16, 0, 16),
    (DType::I32, 0, 32),
    (DType::I64, 0, 64),
    (DType::U8, 1, 8),
    (DType::U32, 1, 32),
    (DType::U64, 1, 64),
    (DType::F16, 2, 16),
    (DType::F32, 2, 32),
    (DType::F64, 2, 64),
    (DType::BF16, 4, 16),
    (DType::Bool, 6, 8),
    (DType::F8E4M3, 10, 8),
    (DType::F8E5M2, 12, 8),
    (DType::F8E8M0, 14, 8),
    (DType::F4E2M1, 17, 4),
];

/// A [`DLTensor`] together with the arrays that it points into. Keep it in place while the pointer is in use.
#[derive(Debug)]
pub struct DlpackExport {
    view: RawTensor,
    dtype: DLDataType,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
}

impl DlpackExport {
    /// The C struct; its shape and stride pointers point into `self`.
    pub fn tensor(&mut self) -> DLTensor {
        let device = self.view.device();
        DLTensor {
            data: self.view.data().cast(),
            device: DLDevice { device_type: device_type(device.kind), device_id: i32::from(device.index) },
            ndim: self.view.rank() as i32,
            dtype: self.dtype,
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            byte_offset: 0,
        }
    }
}

const fn device_type(kind: DeviceKind) -> i32 {
    match kind {
        DeviceKind::Cpu | DeviceKind::Noop => 1,
        DeviceKind::Cuda => 2,
        DeviceKind::Npu => 12,
    }
}

impl RawTensor {
    /// The DLPack form of this view.
    ///
    /// # Errors
    /// [`ViewError::Dlpack`] for a dtype that DLPack cannot name, or a packed weight.
    pub fn to_dlpack(&self) -> Result<DlpackExport, ViewError> {
        if self.layout() != crate::LayoutId::PLAIN {
            return Err(ViewError::Dlpack { what: "packed layout", value: self.layout().0 as i64 });
        }
        let &(_, code, bits) = CODES
            .iter()
            .find(|(d, ..)| *d == self.dtype())
            .ok_or(ViewError::Dlpack { what: "dtype of width", value: self.dtype().bits() as i64 })?;
        let (mut shape, mut strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        for axis in 0..self.rank() {
            shape[axis] = self.dim(axis) as i64;
            strides[axis] = self.stride(axis) as i64;
        }
        Ok(DlpackExport { view: *self, dtype: DLDataType { code, bits, lanes: 1 }, shape, strides })
    }

    /// The view of a DLPack tensor.
    ///
    /// # Errors
    /// [`ViewError`] for a rank, dtype, lane count or device that is not supported, a negative size, or null pointers.
    ///
    /// # Safety
    /// - `tensor.shape` points to `ndim` readable values, and so does `tensor.strides` unless it is null.
    pub unsafe fn from_dlpack(tensor: &DLTensor) -> Result<RawTensor, ViewError> {
        let rank = usize::try_from(tensor.ndim).map_err(|_| ViewError::Rank { rank: usize::MAX })?;
        if rank > MAX_RANK {
            return Err(ViewError::Rank { rank });
        }
        if rank > 0 && tensor.shape.is_null() {
            return Err(ViewError::Dlpack { what: "null shape for rank", value: rank as i64 });
        }
        if tensor.dtype.lanes != 1 {
            return Err(ViewError::Dlpack { what: "lane count", value: i64::from(tensor.dtype.lanes) });
        }
        let &(dtype, ..) = CODES
            .iter()
            .find(|&&(_, code, bits)| code == tensor.dtype.code && bits == tensor.dtype.bits)
            .ok_or(ViewError::Dlpack { what: "dtype code", value: i64::from(tensor.dtype.code) })?;
        let kind = match tensor.device.device_type {
            1 | 3 => DeviceKind::Cpu,
            2 | 13 => DeviceKind::Cuda,
            12 => DeviceKind::Npu,
            other => return Err(ViewError::Dlpack { what: "device type", value: i64::from(other) }),
        };
        let index = if kind == DeviceKind::Cpu { 0 } else { tensor.device.device_id };
        let index =
            u16::try_from(index).map_err(|_| ViewError::Dlpack { what: "device id", value: i64::from(index) })?;
        let (mut shape, mut strides) = ([0_usize; MAX_RANK], [0_isize; MAX_RANK]);
        for (axis, dim) in shape.iter_mut().enumerate().take(rank) {
            // SAFETY: clause 1: `shape` has `ndim` readable values and `axis < ndim`.
            let size = unsafe { *tensor.shape.add(axis) };
            *dim = usize::try_from(size).map_err(|_| ViewError::Size { axis, size })?;
        }
        let data = tensor.data.cast::<u8>();
        if data.is_null() && !shape[..rank].contains(&0) {
            let elements = shape[..rank].iter().fold(1_u128, |n, &d| n.saturating_mul(d as u128));
            return Err(ViewError::Null { elements });
        }
        let data = data.wrapping_add(tensor.byte_offset as usize);
        let device = DeviceId::new(kind, index);
        if tensor.strides.is_null() {
            return RawTensor::contiguous(data, dtype, device, &shape[..rank]);
        }
        for (axis, stride) in strides.iter_mut().enumerate().take(rank) {
            // SAFETY: clause 1: `strides` is not null and has `ndim` readable values.
            *stride = unsafe { *tensor.strides.add(axis) } as isize;
        }
        RawTensor::strided(data, dtype, device, &shape[..rank], &strides[..rank])
    }
}
