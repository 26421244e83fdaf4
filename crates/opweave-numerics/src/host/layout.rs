// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where a tensor lies, and why one cannot be made.

use opweave_tensor::{DType, ViewError};

use super::{ALIGNMENT, GUARD};

/// Where a tensor lies: what the harness asks of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Element type.
    pub dtype: DType,
    /// Sizes, outermost first.
    pub shape: Vec<usize>,
    /// Strides in elements.
    pub strides: Vec<isize>,
    /// Elements by which the first element is shifted off [`ALIGNMENT`].
    pub shift: usize,
}

/// Why a host tensor cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A dtype that this crate does not convert.
    #[error(
        "dtype {0} cannot be held on the host; expected a float of 8 bits or more, an integer of 8 bits or more, or bool"
    )]
    DType(DType),
    /// The view is malformed.
    #[error(transparent)]
    View(#[from] ViewError),
    /// More bytes than an address can count.
    #[error("shape {shape:?} with strides {strides:?} does not fit the address space")]
    Size {
        /// The shape.
        shape: Vec<usize>,
        /// The strides.
        strides: Vec<isize>,
    },
    /// An image of another size than the tensor's.
    #[error("an image of {actual} bytes does not fit the tensor; expected {expected}")]
    Image {
        /// Bytes expected.
        expected: usize,
        /// Bytes given.
        actual: usize,
    },
    /// Values that do not fit the tensor.
    #[error("{actual} values given for {expected} elements")]
    Count {
        /// Elements.
        expected: usize,
        /// Values given.
        actual: usize,
    },
}

impl Layout {
    /// A contiguous layout at an aligned address.
    pub fn contiguous(dtype: DType, shape: &[usize]) -> Layout {
        let mut strides = vec![0_isize; shape.len()];
        let mut next = 1_isize;
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = next;
            next = next.saturating_mul(size.max(1) as isize);
        }
        Layout { dtype, shape: shape.to_vec(), strides, shift: 0 }
    }

    /// The same layout with `elements` more between the starts of consecutive rows (the outer dimension).
    #[must_use]
    pub fn padded_rows(self, elements: usize) -> Layout {
        if self.shape.len() > 1 { self.padded(0, elements) } else { self }
    }

    /// The same layout with `elements` more between the starts of consecutive entries of dimension `axis`; what lies outside
    /// it moves apart accordingly.
    #[must_use]
    pub fn padded(mut self, axis: usize, elements: usize) -> Layout {
        if let Some(stride) = self.strides.get_mut(axis) {
            *stride += elements as isize;
            for outer in (0..axis).rev() {
                self.strides[outer] = self.strides[outer + 1] * self.shape[outer + 1].max(1) as isize;
            }
        }
        self
    }

    /// The same shape with its second dimension outside its first in memory.
    #[must_use]
    pub fn swapped(mut self) -> Layout {
        if let [tokens, _, ..] = *self.shape.as_slice() {
            // The second dimension's stride already has room for what lies inside.
            self.strides[0] = self.strides[1];
            self.strides[1] = self.strides[0] * tokens.max(1) as isize;
        }
        self
    }

    /// The same layout with its first element `elements` off the alignment.
    #[must_use]
    pub fn shifted(mut self, elements: usize) -> Layout {
        self.shift = elements;
        self
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().fold(1, |n: usize, &d| n.saturating_mul(d))
    }

    /// Length of a row: the last dimension, 1 for a scalar.
    pub fn width(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Number of rows: all dimensions but the last; 0 where there are no elements.
    pub fn rows(&self) -> usize {
        if self.width() == 0 { 0 } else { self.elements() / self.width() }
    }
}

/// Bytes that the view reaches below its first element, and above it including that element; `None` on overflow.
pub(super) fn span(layout: &Layout) -> Option<(usize, usize)> {
    let size = (layout.dtype.bits() / 8) as isize;
    if layout.shape.contains(&0) {
        return Some((0, 0));
    }
    let (mut low, mut high) = (0_isize, size);
    for (&extent, &stride) in layout.shape.iter().zip(&layout.strides) {
        let reach = stride.checked_mul(isize::try_from(extent - 1).ok()?)?.checked_mul(size)?;
        if reach < 0 {
            low = low.checked_sub(reach)?;
        } else {
            high = high.checked_add(reach)?;
        }
    }
    let margin = (2 * GUARD + ALIGNMENT) as isize + (layout.shift as isize).checked_mul(size)?;
    low.checked_add(high)?.checked_add(margin)?;
    Some((low as usize, high as usize))
}
