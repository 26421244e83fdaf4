// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The view that every argument list is made of.

use std::fmt;

use crate::{DType, DeviceId, ViewError};

/// The most dimensions that a view holds: a paged KV cache has five with K and V in one tensor.
pub const MAX_RANK: usize = 6;

/// The identity of a packed weight layout; [`LayoutId::PLAIN`] marks an ordinary strided tensor.
///
/// A packed buffer is opaque bytes that only the plan which defined the layout can read. The id is a 64-bit FNV-1a hash of
/// the layout's description, so that equal descriptions agree between processes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct LayoutId(pub u64);

impl LayoutId {
    /// An ordinary tensor, described by its shape and strides.
    pub const PLAIN: LayoutId = LayoutId(0);

    /// The id of the layout with this description.
    pub const fn of(description: &str) -> LayoutId {
        let bytes = description.as_bytes();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut i = 0;
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        // 0 is taken by PLAIN.
        if hash == 0 { LayoutId(1) } else { LayoutId(hash) }
    }
}

/// A view: pointer, dtype, device, shape and strides. `Copy`, without a lifetime, and inert: building one is safe, reading
/// through it is not.
///
/// Strides count elements, not bytes. A packed weight is a rank-1 `u8` view with a [`LayoutId`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RawTensor {
    data: *mut u8,
    layout: LayoutId,
    dtype: DType,
    rank: u8,
    device: DeviceId,
    shape: [usize; MAX_RANK],
    strides: [isize; MAX_RANK],
}

// SAFETY: a view is inert data; dereferencing it is an unsafe operation whose caller answers for races.
unsafe impl Send for RawTensor {}
// SAFETY: as for Send: no method reads through the pointer.
unsafe impl Sync for RawTensor {}

/// The span of bytes that a view can touch, `start..end`, as addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Address of the first byte.
    pub start: usize,
    /// Address past the last byte.
    pub end: usize,
}

impl Extent {
    /// Whether two spans share a byte. Empty spans share none.
    #[inline]
    pub const fn overlaps(self, other: Extent) -> bool {
        self.start < other.end && other.start < self.end && self.start < self.end && other.start < other.end
    }
}

impl RawTensor {
    /// A view with contiguous strides.
    ///
    /// # Errors
    /// [`ViewError::Rank`] for more than [`MAX_RANK`] dimensions, [`ViewError::Size`] when the element count overflows.
    #[inline]
    pub fn contiguous(data: *mut u8, dtype: DType, device: DeviceId, shape: &[usize]) -> Result<Self, ViewError> {
        let rank = shape.len();
        if rank > MAX_RANK {
            return Err(ViewError::Rank { rank });
        }
        let mut view = Self::bare(data, dtype, device, rank);
        let mut stride = 1_usize;
        for axis in (0..rank).rev() {
            view.shape[axis] = shape[axis];
            view.strides[axis] = stride as isize;
            // An empty dimension must not make the outer strides zero: they would look like a broadcast.
            stride = match stride.checked_mul(shape[axis].max(1)) {
                Some(next) if next <= isize::MAX as usize => next,
                _ => return Err(ViewError::Size { axis, size: shape[axis] as i64 }),
            };
        }
        Ok(view)
    }

    /// A view with the given strides, in elements.
    ///
    /// # Errors
    /// [`ViewError::Rank`] or [`ViewError::StrideCount`]; what a contract allows of strides is the contract's to say.
    #[inline]
    pub fn strided(
        data: *mut u8,
        dtype: DType,
        device: DeviceId,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, ViewError> {
        let rank = shape.len();
        if rank > MAX_RANK {
            return Err(ViewError::Rank { rank });
        }
        if strides.len() != rank {
            return Err(ViewError::StrideCount { rank, strides: strides.len() });
        }
        let mut view = Self::bare(data, dtype, device, rank);
        view.shape[..rank].copy_from_slice(shape);
        view.strides[..rank].copy_from_slice(strides);
        Ok(view)
    }

    /// A packed weight: `bytes` opaque bytes in the layout `layout`.
    #[inline]
    pub fn packed(data: *mut u8, device: DeviceId, bytes: usize, layout: LayoutId) -> Self {
        let mut view = Self::bare(data, DType::U8, device, 1);
        view.shape[0] = bytes;
        view.strides[0] = 1;
        view.layout = layout;
        view
    }

    #[inline]
    fn bare(data: *mut u8, dtype: DType, device: DeviceId, rank: usize) -> Self {
        RawTensor {
            data,
            layout: LayoutId::PLAIN,
            dtype,
            rank: rank as u8,
            device,
            shape: [0; MAX_RANK],
            strides: [0; MAX_RANK],
        }
    }

    /// The address of the element with all indices zero.
    #[inline]
    pub const fn data(&self) -> *mut u8 {
        self.data
    }

    /// Dtype, rank and device as one number, so that a check compares them at once.
    #[inline]
    pub const fn head(&self) -> u64 {
        Self::head_of(self.dtype, self.rank as usize, self.device)
    }

    /// The [`RawTensor::head`] of a view with this dtype, rank and device.
    #[inline]
    pub const fn head_of(dtype: DType, rank: usize, device: DeviceId) -> u64 {
        dtype as u64 | (rank as u64) << 8 | (device.kind as u64) << 16 | (device.index as u64) << 32
    }

    /// The element type.
    #[inline]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device whose memory this is.
    #[inline]
    pub const fn device(&self) -> DeviceId {
        self.device
    }

    /// The packed layout, [`LayoutId::PLAIN`] for an ordinary tensor.
    #[inline]
    pub const fn layout(&self) -> LayoutId {
        self.layout
    }

    /// Number of dimensions.
    #[inline]
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Sizes, outermost first.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape[..(self.rank as usize).min(MAX_RANK)]
    }

    /// Strides in elements, outermost first.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        &self.strides[..(self.rank as usize).min(MAX_RANK)]
    }

    /// Size of dimension `axis`; 0 past the rank.
    #[inline]
    pub fn dim(&self, axis: usize) -> usize {
        self.shape.get(axis).copied().unwrap_or(0)
    }

    /// Stride of dimension `axis` in elements; 0 past the rank.
    #[inline]
    pub fn stride(&self, axis: usize) -> isize {
        self.strides.get(axis).copied().unwrap_or(0)
    }

    /// Size and stride of dimension `axis`; zeros past the rank.
    #[inline]
    pub fn axis(&self, axis: usize) -> (usize, isize) {
        if axis < MAX_RANK { (self.shape[axis], self.strides[axis]) } else { (0, 0) }
    }

    /// Number of elements, saturating.
    #[inline]
    pub fn elements(&self) -> usize {
        self.shape().iter().fold(1_usize, |n, &d| n.saturating_mul(d))
    }

    /// Whether some dimension is zero.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Whether the elements follow each other without gaps in row-major order. Strides of dimensions of size 0 or 1 do not
    /// count.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1_isize;
        for (&size, &stride) in self.shape().iter().zip(self.strides()).rev() {
            if size > 1 && stride != expected {
                return false;
            }
            expected = expected.saturating_mul(size.max(1) as isize);
        }
        true
    }

    /// The bytes that the view can touch, or `None` when that overflows the address space. Empty for an empty view.
    #[inline]
    pub fn extent(&self) -> Option<Extent> {
        // An empty view has an extent even where its other dimensions overflow, which only the slow way out looks at.
        self.reach()
            .or_else(|| self.is_empty().then_some(Extent { start: self.data as usize, end: self.data as usize }))
    }

    #[inline]
    fn reach(&self) -> Option<Extent> {
        let start = self.data as usize;
        let (mut low, mut high) = (0_isize, 0_isize);
        for (&size, &stride) in self.shape().iter().zip(self.strides()) {
            if size == 0 {
                return Some(Extent { start, end: start });
            }
            let reach = stride.checked_mul(isize::try_from(size - 1).ok()?)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        let bits = self.dtype.bits() as isize;
        let first = low.checked_mul(bits)?.div_euclid(8);
        let last = (high.checked_add(1)?.checked_mul(bits)?.checked_add(7)?).div_euclid(8);
        Some(Extent { start: start.checked_add_signed(first)?, end: start.checked_add_signed(last)? })
    }

    /// The same view at another address: used to place outputs and to shift pointers in tests.
    #[inline]
    #[must_use]
    pub fn with_data(mut self, data: *mut u8) -> Self {
        self.data = data;
        self
    }
}

impl fmt::Debug for RawTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?} strides {:?} at {:p} on {}", self.dtype, self.shape(), self.strides(), self.data, self.device)
    }
}
