// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Dimensions of arguments: fixed by the problem, or dynamic and known at each call.

use std::fmt;
use std::ops::{Add, Mul};

/// The most dynamic dimensions that an operator has.
pub const MAX_DYNAMIC: usize = 8;

/// A size as a shape expression: `multiply * dynamic + add`, or `add` alone when nothing in it is dynamic.
///
/// Expressions are formed once, when an operator is prepared; a call only compares numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DimExpr {
    /// Index of the dynamic dimension, or `None` for a fixed size.
    pub dynamic: Option<u8>,
    /// Factor of the dynamic dimension.
    pub multiply: usize,
    /// Fixed part.
    pub add: usize,
}

impl DimExpr {
    /// The dynamic dimension with this index.
    pub const fn dynamic(index: u8) -> Self {
        DimExpr { dynamic: Some(index), multiply: 1, add: 0 }
    }

    /// The size for given dynamic dimensions; saturating.
    pub fn resolve(self, dims: &DynDims) -> usize {
        let varying = self.dynamic.map_or(0, |d| dims.get(d as usize).saturating_mul(self.multiply));
        varying.saturating_add(self.add)
    }
}

impl From<usize> for DimExpr {
    fn from(size: usize) -> Self {
        DimExpr { dynamic: None, multiply: 0, add: size }
    }
}

impl Add<usize> for DimExpr {
    type Output = DimExpr;
    fn add(self, more: usize) -> DimExpr {
        DimExpr { add: self.add.saturating_add(more), ..self }
    }
}

impl Mul<usize> for DimExpr {
    type Output = DimExpr;
    fn mul(self, factor: usize) -> DimExpr {
        DimExpr {
            multiply: self.multiply.saturating_mul(factor),
            add: self.add.saturating_mul(factor),
            dynamic: self.dynamic,
        }
    }
}

/// The values of an operator's dynamic dimensions, in the order in which its signature names them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DynDims {
    values: [usize; MAX_DYNAMIC],
    len: u8,
}

impl DynDims {
    /// Values in signature order. Values past [`MAX_DYNAMIC`] are dropped: no signature has more.
    pub fn new(values: &[usize]) -> Self {
        let mut dims = DynDims::default();
        for &value in values.iter().take(MAX_DYNAMIC) {
            dims.values[dims.len as usize] = value;
            dims.len += 1;
        }
        dims
    }

    /// The first `len` of `values`.
    #[inline]
    pub(crate) fn from_array(values: [usize; MAX_DYNAMIC], len: usize) -> Self {
        DynDims { values, len: len as u8 }
    }

    /// The value of dimension `index`; 0 for one that does not exist.
    pub fn get(&self, index: usize) -> usize {
        self.values.get(index).copied().unwrap_or(0)
    }

    /// All values.
    pub fn as_slice(&self) -> &[usize] {
        &self.values[..self.len as usize]
    }
}

impl fmt::Debug for DynDims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
