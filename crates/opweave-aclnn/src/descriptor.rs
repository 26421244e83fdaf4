// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Descriptors of tensors, and what else operators take as objects.

use std::ffi::{c_int, c_void};

use opweave_device::DeviceError;
use opweave_device_npu::{Cann, Opaque, Status};
use opweave_tensor::{DType, MAX_RANK, RawTensor};

/// `ACL_FORMAT_ND`.
const ND: c_int = 2;
/// `ACL_FORMAT_FRACTAL_NZ`.
const NZ: c_int = 29;
/// Rows, and columns of 16 bits, of a block of [`Form::Blocks`].
const BLOCK: usize = 16;

/// How the elements of a tensor lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As the strides say.
    Plain,
    /// A matrix of 16-bit elements in blocks of 16 by 16, columns of blocks one after the other, the last ones padded
    /// (`FRACTAL_NZ`). The view is that of the plain matrix, of which one dimension is contiguous: the columns of blocks.
    Blocks,
}

impl Form {
    /// The dimensions of the memory of a matrix with these rows and columns in blocks.
    pub(crate) fn blocks(rows: usize, columns: usize) -> [usize; 4] {
        [columns.div_ceil(BLOCK), rows.div_ceil(BLOCK), BLOCK, BLOCK]
    }
}

/// `aclDataType`.
pub(crate) const fn code_of(dtype: DType) -> Option<c_int> {
    Some(match dtype {
        DType::F32 => 0,
        DType::F16 => 1,
        DType::I8 => 2,
        DType::I32 => 3,
        DType::U8 => 4,
        DType::I16 => 6,
        DType::U32 => 8,
        DType::I64 => 9,
        DType::U64 => 10,
        DType::F64 => 11,
        DType::Bool => 12,
        DType::BF16 => 27,
        _ => return None,
    })
}

/// An object of the vendor's, destroyed when this is dropped.
pub(crate) struct Owned {
    pub(crate) raw: Opaque,
    destroy: unsafe extern "C" fn(Opaque) -> Status,
}

// SAFETY: descriptors are plain objects of the library's; whoever uses one from several threads answers for that.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by the function that belongs to this one, destroyed here only.
        unsafe { (self.destroy)(self.raw) };
    }
}

fn made(raw: Opaque, what: &str, destroy: unsafe extern "C" fn(Opaque) -> Status) -> Result<Owned, DeviceError> {
    if raw.is_null() {
        return Err(DeviceError::MissingLibrary {
            library: "libnnopbase".to_owned(),
            reason: format!("{what} gave no object"),
        });
    }
    Ok(Owned { raw, destroy })
}

/// A descriptor of `view` with the data at `data`.
pub(crate) fn tensor(cann: &Cann, view: &RawTensor, form: Form, data: *mut c_void) -> Result<Owned, DeviceError> {
    let meta = meta(cann)?;
    let (create, destroy) = (meta.create_tensor()?, meta.destroy_tensor()?);
    let refused = |what: String| DeviceError::State { device: view.device(), what };
    let Some(dtype) = code_of(view.dtype()) else {
        return Err(refused(format!("the vendor's operators have no dtype {}", view.dtype())));
    };
    let (mut dims, mut strides) = ([0_i64; MAX_RANK], [0_i64; MAX_RANK]);
    let rank = view.rank();
    for axis in 0..rank {
        dims[axis] = view.dim(axis) as i64;
        strides[axis] = view.stride(axis) as i64;
    }
    // The storage is what the view lies in: itself, or as one row of elements what it reaches over, or blocks.
    let (mut row, mut blocks) = ([0_i64; 1], [0_i64; 4]);
    let (format, storage) = match form {
        Form::Plain if view.is_contiguous() => (ND, &dims[..rank]),
        Form::Plain => {
            let reach = view.extent().map_or(0, |extent| extent.end - extent.start);
            row[0] = (reach / (view.dtype().bits() / 8).max(1)) as i64;
            (ND, &row[..])
        }
        Form::Blocks => {
            let inner = usize::from(view.stride(1) == 1);
            let sizes = Form::blocks(view.dim(1 - inner), view.dim(inner));
            blocks.iter_mut().zip(sizes).for_each(|(to, size)| *to = size as i64);
            (NZ, &blocks[..])
        }
    };
    // SAFETY: arrays of so many numbers, read during the call.
    let raw = unsafe {
        create(
            dims.as_ptr(),
            rank as u64,
            dtype,
            strides.as_ptr(),
            0,
            format,
            storage.as_ptr(),
            storage.len() as u64,
            data,
        )
    };
    made(raw, "aclCreateTensor", destroy)
}

/// An array of one integer.
pub(crate) fn ints(cann: &Cann, value: i64) -> Result<Owned, DeviceError> {
    let meta = meta(cann)?;
    let (create, destroy) = (meta.create_ints()?, meta.destroy_ints()?);
    // SAFETY: one integer, read during the call.
    made(unsafe { create(&raw const value, 1) }, "aclCreateIntArray", destroy)
}

/// A scalar in f32.
pub(crate) fn scalar(cann: &Cann, value: f64) -> Result<Owned, DeviceError> {
    let meta = meta(cann)?;
    let (create, destroy) = (meta.create_scalar()?, meta.destroy_scalar()?);
    let mut value = value as f32;
    // SAFETY: a number of the dtype, `ACL_FLOAT`, read during the call.
    made(unsafe { create((&raw mut value).cast(), 0) }, "aclCreateScalar", destroy)
}

/// A scalar in i64.
pub(crate) fn integer(cann: &Cann, mut value: i64) -> Result<Owned, DeviceError> {
    let meta = meta(cann)?;
    let (create, destroy) = (meta.create_scalar()?, meta.destroy_scalar()?);
    // SAFETY: a number of the dtype, `ACL_INT64`, read during the call.
    made(unsafe { create((&raw mut value).cast(), 9) }, "aclCreateScalar", destroy)
}

pub(crate) fn meta(cann: &Cann) -> Result<&opweave_device_npu::Meta, DeviceError> {
    cann.meta()
        .map_err(|error| DeviceError::MissingLibrary { library: "libnnopbase".to_owned(), reason: error.to_string() })
}
