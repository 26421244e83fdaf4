// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Operators of the vendor's: how the first phase of each is called.

use std::ffi::c_void;

use opweave_device_npu::{Cann, Executor, LoadError, Opaque, Status};

/// What an operator takes besides tensors, as much of it as it has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    /// A number, such as an epsilon.
    pub(crate) real: f64,
    /// A number, such as an axis or a dtype.
    pub(crate) int: i64,
    /// A second number, such as the upper of two limits.
    pub(crate) limit: i64,
    /// A choice of two.
    pub(crate) flag: bool,
}

impl Attributes {
    /// One integer and nothing else.
    pub(crate) fn number(int: i64) -> Attributes {
        Attributes { int, ..Attributes::default() }
    }

    /// Equal bit for bit: what one executor can be used for.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.real.to_bits() == other.real.to_bits()
            && (self.int, self.limit, self.flag) == (other.int, other.limit, other.flag)
    }
}

/// What the first phase is told.
pub(crate) struct Request<'a> {
    /// The operator's own function of the first phase.
    pub(crate) function: *const c_void,
    /// Descriptors in the order of the function's parameters; null where a tensor is absent.
    pub(crate) tensors: &'a [Opaque],
    pub(crate) attributes: &'a Attributes,
    /// An array of integers, for operators that take one.
    pub(crate) ints: Opaque,
    /// Scalars that are objects, for operators that take some: of `real`, of `int` and of `limit`, and a one.
    pub(crate) scalars: [Opaque; 4],
    /// Where the size of the workspace goes.
    pub(crate) bytes: *mut u64,
    /// Where the executor goes.
    pub(crate) executor: *mut Executor,
}

/// An operator of the vendor's.
pub(crate) struct Operation {
    /// The function of the second phase. That of the first is called the same with `GetWorkspaceSize` behind it.
    pub(crate) symbol: &'static str,
    /// Calls the function of the first phase, which is that of this symbol, on live descriptors.
    pub(crate) first: unsafe fn(&Request<'_>) -> Status,
    /// The array of integers that it takes, out of its attributes.
    pub(crate) ints: Option<fn(&Attributes) -> i64>,
    /// Which of its numbers it takes as scalar objects: `real`, in f32, and `int`, `limit` and a one, in i64.
    pub(crate) scalars: [bool; 4],
}

/// The function of the second phase: workspace, its bytes, executor, stream.
pub(crate) type Launch = unsafe extern "C" fn(*mut c_void, u64, Executor, *mut c_void) -> Status;

/// An operator that an installed library has.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) operation: &'static Operation,
    pub(crate) first: *const c_void,
    pub(crate) second: Launch,
}

// SAFETY: addresses of functions, which are the same for every thread.
unsafe impl Send for Found {}
// SAFETY: as for Send.
unsafe impl Sync for Found {}

impl Operation {
    /// Looks both functions up.
    pub(crate) fn find(&'static self, cann: &Cann) -> Result<Found, LoadError> {
        let first = format!("{}GetWorkspaceSize", self.symbol);
        // SAFETY: an address, which `self.first` alone calls, by the vendor's signature.
        let first = unsafe { cann.operator::<*const c_void>(&first) }?;
        // SAFETY: every function of the second phase has this type.
        let second = unsafe { cann.operator::<Launch>(self.symbol) }?;
        Ok(Found { operation: self, first, second })
    }
}

/// An operator whose first phase takes, in this order, what stands in brackets: tensors by their place, and attributes.
macro_rules! operation {
    ($(#[$about:meta])* $name:ident = $symbol:literal($($kind:ident $(($at:literal))?),*) $(ints $ints:expr;)?) => {
        $(#[$about])*
        pub(crate) static $name: $crate::operation::Operation = $crate::operation::Operation {
            symbol: $symbol,
            first: {
                /// # Safety
                /// - `function` is that of the symbol's first phase; descriptors are live or null, and both places are writable.
                unsafe fn first(request: &$crate::operation::Request<'_>) -> opweave_device_npu::Status {
                    type First = unsafe extern "C" fn(
                        $($crate::operation::kind!($kind),)* *mut u64, *mut opweave_device_npu::Executor,
                    ) -> opweave_device_npu::Status;
                    // SAFETY: the address is of the function with this symbol, which has this signature by the vendor's reference.
                    let function = unsafe { std::mem::transmute::<*const std::ffi::c_void, First>(request.function) };
                    // SAFETY: descriptors are live or null, and both places are writable.
                    unsafe { function($($crate::operation::value!(request, $kind $(($at))?),)* request.bytes, request.executor) }
                }
                first
            },
            ints: $crate::operation::ints!($($ints)?),
            scalars: [
                $crate::operation::takes!(scalar $($kind)*),
                $crate::operation::takes!(integer $($kind)*),
                $crate::operation::takes!(upper $($kind)*),
                $crate::operation::takes!(one $($kind)*),
            ],
        };
    };
}
macro_rules! kind {
    (real) => {
        f64
    };
    (int) => {
        i64
    };
    (last) => {
        i64
    };
    (dtype) => {
        std::ffi::c_int
    };
    (keep) => {
        bool
    };
    (drop) => {
        bool
    };
    (left) => {
        bool
    };
    (flag) => {
        bool
    };
    (math) => {
        i8
    };
    // Tensors, arrays and scalars.
    ($object:ident) => {
        opweave_device_npu::Opaque
    };
}
macro_rules! value {
    ($r:ident, tensor($at:literal)) => {
        $r.tensors[$at]
    };
    ($r:ident, ints) => {
        $r.ints
    };
    // An array that is left out.
    ($r:ident, absent) => {
        std::ptr::null_mut()
    };
    ($r:ident, scalar) => {
        $r.scalars[0]
    };
    ($r:ident, integer) => {
        $r.scalars[1]
    };
    ($r:ident, upper) => {
        $r.scalars[2]
    };
    ($r:ident, one) => {
        $r.scalars[3]
    };
    ($r:ident, real) => {
        $r.attributes.real
    };
    ($r:ident, int) => {
        $r.attributes.int
    };
    // The second of two dimensions.
    ($r:ident, last) => {
        1
    };
    ($r:ident, dtype) => {
        $r.attributes.int as std::ffi::c_int
    };
    // A dimension that is summed up stays, of size one.
    ($r:ident, keep) => {
        true
    };
    ($r:ident, drop) => {
        false
    };
    // The first half of a row goes through the activation.
    ($r:ident, left) => {
        true
    };
    ($r:ident, flag) => {
        $r.attributes.flag
    };
    // `KEEP_DTYPE`: matrices are multiplied in the dtype that they have.
    ($r:ident, math) => {
        0
    };
}
macro_rules! ints {
    () => {
        None
    };
    ($ints:expr) => {
        Some($ints)
    };
}
/// Whether an operator takes one of its numbers as an object.
macro_rules! takes {
    ($kind:ident) => { false };
    (scalar scalar $($rest:ident)*) => { true };
    (integer integer $($rest:ident)*) => { true };
    (upper upper $($rest:ident)*) => { true };
    (one one $($rest:ident)*) => { true };
    ($kind:ident $other:ident $($rest:ident)*) => { $crate::operation::takes!($kind $($rest)*) };
}
pub(crate) use {ints, kind, operation, takes, value};

operation! {
    /// `selfRef = src`, with strides and dtypes of their own.
    COPY = "aclnnInplaceCopy"(tensor(0), tensor(1))
}
operation! {
    /// `out = self` in another dtype.
    CAST = "aclnnCast"(tensor(0), dtype, tensor(1))
}
operation! {
    /// `out = self / other`, a number.
    DIVIDE = "aclnnDivs"(tensor(0), scalar, tensor(1))
}
operation! {
    /// The largest of a dimension, which stays, of size one.
    LARGEST = "aclnnAmax"(tensor(0), ints, keep, tensor(1))
    ints |attributes| attributes.int;
}
operation! {
    /// `out = self - alpha * other`, broadcast.
    SUBTRACT = "aclnnSub"(tensor(0), tensor(1), scalar, tensor(2))
}
operation! {
    /// Rows of `weight` by `indices`, which must all be inside.
    GATHER = "aclnnEmbedding"(tensor(0), tensor(1), tensor(2))
}
operation! {
    /// `out = self` where `condition` is true, else `other`, broadcast.
    WHERE = "aclnnSWhere"(tensor(0), tensor(1), tensor(2), tensor(3))
}
operation! {
    /// `selfRef = value`, a number, where `mask` is true.
    FILL_NUMBER = "aclnnInplaceMaskedFillScalar"(tensor(0), tensor(1), scalar)
}
operation! {
    /// `selfRef = 0`.
    ZERO = "aclnnInplaceZero"(tensor(0))
}
operation! {
    /// `int`, `int + 1` and so on, below `limit`.
    COUNT = "aclnnArange"(integer, upper, one, tensor(0))
}
operation! {
    /// The smallest of a dimension, which stays, of size one.
    SMALLEST = "aclnnAmin"(tensor(0), ints, keep, tensor(1))
    ints |attributes| attributes.int;
}
