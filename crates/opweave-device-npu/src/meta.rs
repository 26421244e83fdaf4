// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Descriptors of operators' arguments and what is prepared of a call, `libnnopbase`.

use std::ffi::{c_int, c_void};

use crate::library::{Missing, optional_functions};
use crate::status::Status;

/// `aclTensor *`, `aclScalar *`, `aclIntArray *`, `aclTensorList *`.
pub type Opaque = *mut c_void;
/// `aclOpExecutor *`.
pub type Executor = *mut c_void;

type CreateTensor =
    unsafe extern "C" fn(*const i64, u64, c_int, *const i64, i64, c_int, *const i64, u64, *mut c_void) -> Opaque;
type SetAddress = unsafe extern "C" fn(Executor, usize, Opaque, *mut c_void) -> Status;

optional_functions! {
    /// The functions of a loaded `libnnopbase`.
    pub struct Meta of "libnnopbase.so" {
        tensor = "aclCreateTensor"(*const i64, u64, c_int, *const i64, i64, c_int, *const i64, u64, *mut c_void) -> Opaque;
        tensor_destroy = "aclDestroyTensor"(Opaque) -> Status;
        ints = "aclCreateIntArray"(*const i64, u64) -> Opaque;
        ints_destroy = "aclDestroyIntArray"(Opaque) -> Status;
        scalar = "aclCreateScalar"(*mut c_void, c_int) -> Opaque;
        scalar_destroy = "aclDestroyScalar"(Opaque) -> Status;
        list = "aclCreateTensorList"(*const Opaque, u64) -> Opaque;
        list_destroy = "aclDestroyTensorList"(Opaque) -> Status;
        repeatable = "aclSetAclOpExecutorRepeatable"(Executor) -> Status;
        executor_destroy = "aclDestroyAclOpExecutor"(Executor) -> Status;
        set_address = "aclSetTensorAddr"(Executor, usize, Opaque, *mut c_void) -> Status;
        set_address_old = "AclSetTensorAddr"(Executor, usize, Opaque, *mut c_void) -> Status;
    }
}

/// A function of `libnnopbase`, for solutions: each says which symbol is missing.
macro_rules! lend {
    ($($(#[$about:meta])* $name:ident = $field:ident: $kind:ty;)*) => {
        impl Meta {
            $(
                $(#[$about])*
                ///
                /// # Errors
                /// [`Missing`].
                #[inline]
                pub fn $name(&self) -> Result<$kind, Missing> {
                    self.$field()
                }
            )*
        }
    };
}

lend! {
    /// `aclCreateTensor`: dimensions and their number, dtype, strides, offset, format, dimensions of the storage and their
    /// number, address.
    create_tensor = tensor: CreateTensor;
    /// `aclDestroyTensor`.
    destroy_tensor = tensor_destroy: unsafe extern "C" fn(Opaque) -> Status;
    /// `aclCreateIntArray`.
    create_ints = ints: unsafe extern "C" fn(*const i64, u64) -> Opaque;
    /// `aclDestroyIntArray`.
    destroy_ints = ints_destroy: unsafe extern "C" fn(Opaque) -> Status;
    /// `aclCreateScalar`: the address of a value, and its dtype.
    create_scalar = scalar: unsafe extern "C" fn(*mut c_void, c_int) -> Opaque;
    /// `aclDestroyScalar`.
    destroy_scalar = scalar_destroy: unsafe extern "C" fn(Opaque) -> Status;
    /// `aclCreateTensorList`, which takes the tensors over.
    create_list = list: unsafe extern "C" fn(*const Opaque, u64) -> Opaque;
    /// `aclDestroyTensorList`, which destroys its tensors.
    destroy_list = list_destroy: unsafe extern "C" fn(Opaque) -> Status;
    /// `aclSetAclOpExecutorRepeatable`: the executor stays after its launch, and is destroyed by its owner.
    set_repeatable = repeatable: unsafe extern "C" fn(Executor) -> Status;
    /// `aclDestroyAclOpExecutor`.
    destroy_executor = executor_destroy: unsafe extern "C" fn(Executor) -> Status;
}

impl Meta {
    /// `aclSetTensorAddr`: the address of the tensor with this index among all tensors of the operator's call; older libraries
    /// spell it with a capital letter.
    ///
    /// # Errors
    /// [`Missing`] where the library has neither spelling.
    #[inline]
    pub fn set_tensor_address(&self) -> Result<SetAddress, Missing> {
        self.set_address().or_else(|missing| self.set_address_old().map_err(|_| missing))
    }
}
