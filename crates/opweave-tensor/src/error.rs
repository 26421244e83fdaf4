// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Why a view cannot be built.

use crate::DType;

/// A view that would be malformed or would reach outside its memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// More dimensions than a view can hold.
    #[error("rank {rank} is not supported; at most {max}", max = crate::MAX_RANK)]
    Rank {
        /// The rank asked for.
        rank: usize,
    },
    /// Shape and strides of different length.
    #[error("{strides} strides given for a shape of rank {rank}")]
    StrideCount {
        /// Rank of the shape.
        rank: usize,
        /// Number of strides given.
        strides: usize,
    },
    /// The view needs more elements than the slice has.
    #[error("shape {shape:?} with strides {strides:?} needs {needed} elements; the slice has {available}")]
    OutOfBounds {
        /// The shape asked for.
        shape: Vec<usize>,
        /// The strides asked for, in elements.
        strides: Vec<isize>,
        /// Elements needed.
        needed: u128,
        /// Elements there.
        available: usize,
    },
    /// A stride that would reach before the first element, or let elements of a mutable view overlap.
    #[error("stride {stride} of dimension {axis} is not allowed here; {rule}")]
    Stride {
        /// The dimension.
        axis: usize,
        /// Its stride in elements.
        stride: isize,
        /// What is allowed.
        rule: &'static str,
    },
    /// A null pointer for a tensor that has elements.
    #[error("data pointer is null for a tensor with {elements} elements")]
    Null {
        /// Elements of the tensor.
        elements: u128,
    },
    /// A negative or overflowing dimension or byte size.
    #[error("dimension {axis} has size {size}, which is not representable")]
    Size {
        /// The dimension.
        axis: usize,
        /// Its size as given.
        size: i64,
    },
    /// A dtype, lane count or device code that opweave does not know.
    #[error("DLPack {what} {value} is not supported")]
    Dlpack {
        /// The field.
        what: &'static str,
        /// Its value.
        value: i64,
    },
    /// An element type that differs from the view's.
    #[error("the view holds {actual}, not {expected}")]
    DType {
        /// What was asked for.
        expected: DType,
        /// What the view holds.
        actual: DType,
    },
}
