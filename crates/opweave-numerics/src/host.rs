// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tensors on the host, with guard bands.
//!
//! A [`HostTensor`] owns one byte image: a guard band, the span that its strided view can touch, another guard band. The
//! bytes of the image that belong to no element - the bands, and the gaps between rows of a strided view - carry a
//! pattern of their position, so a write past a row's end is seen wherever it lands, and copying a neighbour's bytes does
//! not restore it. The image moves to a device and back as a whole; validation looks at what came back.

mod guard;
mod layout;

pub use layout::{HostError, Layout};

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use opweave_tensor::{DType, DeviceId, MAX_RANK, RawTensor, ViewError};

use crate::codec;

/// Bytes of guard before and after the span of a tensor: 64 elements of the widest dtype.
pub const GUARD: usize = 512;

/// Alignment in bytes of the first element of an unshifted tensor: a cache line, and the widest vector load.
pub const ALIGNMENT: usize = 64;

/// Gaps of a strided view longer than this carry the pattern only at their two ends, so that a view over a huge sparse
/// span stays sparse in memory.
const GAP_BAND: usize = 4096;

/// Elements from which on rows are filled by several threads.
const MANY: usize = 1 << 18;

/// Threads that fill rows: a device that is being timed may need the others.
const MOST_THREADS: usize = 4;

/// An owned tensor with guard bands; see the module's documentation.
#[derive(Debug)]
pub struct HostTensor {
    layout: Layout,
    bytes: Vec<u8>,
    /// Where the image starts in `bytes`, so that it is aligned.
    base: usize,
    /// Length of the image.
    length: usize,
    /// Byte offset in the image of the element with all indices zero.
    origin: usize,
    /// Rows that are filled, moved and looked at; none for all. The others stay zero, so that a tensor larger than memory
    /// costs only what a device writes.
    sampled: Option<Vec<usize>>,
}

impl HostTensor {
    /// A tensor of zeros with intact guard bands.
    ///
    /// # Errors
    /// [`HostError`] for a dtype that is not supported, a malformed view, or a span that overflows.
    pub fn zeros(layout: Layout) -> Result<HostTensor, HostError> {
        let mut tensor = HostTensor::unguarded(layout, None)?;
        tensor.lay_guards();
        Ok(tensor)
    }

    /// A tensor of zeros of which only these rows matter.
    ///
    /// # Errors
    /// As [`HostTensor::zeros`].
    pub fn sampled(layout: Layout, rows: Vec<usize>) -> Result<HostTensor, HostError> {
        let mut tensor = HostTensor::unguarded(layout, Some(rows))?;
        tensor.lay_guards();
        Ok(tensor)
    }

    fn unguarded(layout: Layout, sampled: Option<Vec<usize>>) -> Result<HostTensor, HostError> {
        if !codec::supported(layout.dtype) {
            return Err(HostError::DType(layout.dtype));
        }
        if layout.shape.len() > MAX_RANK {
            return Err(ViewError::Rank { rank: layout.shape.len() }.into());
        }
        if layout.shape.len() != layout.strides.len() {
            return Err(ViewError::StrideCount { rank: layout.shape.len(), strides: layout.strides.len() }.into());
        }
        let (low, high) = layout::span(&layout)
            .ok_or_else(|| HostError::Size { shape: layout.shape.clone(), strides: layout.strides.clone() })?;
        let size = layout.dtype.bits() / 8;
        // Negative strides reach below the first element; the alignment is that of the lowest byte.
        let below = GUARD + layout.shift * size + low;
        let length = below + high + GUARD;
        let bytes = vec![0_u8; length + ALIGNMENT];
        let base = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Ok(HostTensor { layout, bytes, base, length, origin: below, sampled })
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// The whole image, guard bands included.
    pub fn image(&self) -> &[u8] {
        &self.bytes[self.base..self.base + self.length]
    }

    /// The whole image for writing: what a device copies back into.
    pub fn image_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.base..self.base + self.length]
    }

    /// Byte offset in the image of the element with all indices zero: where a view on a device's copy starts.
    pub fn origin(&self) -> usize {
        self.origin
    }

    /// A view of this tensor, as memory of `device`, in a copy of the image that starts at `image`.
    ///
    /// # Errors
    /// [`HostError::View`]; a tensor that was made has a well-formed view.
    pub fn view_at(&self, image: *mut u8, device: DeviceId) -> Result<RawTensor, HostError> {
        let data = image.wrapping_add(self.origin);
        Ok(RawTensor::strided(data, self.layout.dtype, device, &self.layout.shape, &self.layout.strides)?)
    }

    /// A view of the host memory itself.
    ///
    /// # Errors
    /// As [`HostTensor::view_at`].
    pub fn view(&mut self) -> Result<RawTensor, HostError> {
        let image = self.image_mut().as_mut_ptr();
        self.view_at(image, DeviceId::CPU)
    }

    /// A tensor of zeros with the layout of another and without guard bands: what an image is fetched into.
    ///
    /// # Errors
    /// As [`HostTensor::zeros`].
    pub fn blank(like: &HostTensor) -> Result<HostTensor, HostError> {
        HostTensor::unguarded(like.layout.clone(), like.sampled.clone())
    }

    /// Replaces the image by bytes that came back from a device or from a snapshot.
    ///
    /// # Errors
    /// [`HostError::Image`] when the sizes differ.
    pub fn restore(&mut self, image: &[u8]) -> Result<(), HostError> {
        if image.len() != self.length {
            return Err(HostError::Image { expected: self.length, actual: image.len() });
        }
        self.image_mut().copy_from_slice(image);
        Ok(())
    }

    /// A copy at an address of its own with the same alignment, shift and bytes.
    ///
    /// # Errors
    /// As [`HostTensor::zeros`].
    pub fn duplicate(&self) -> Result<HostTensor, HostError> {
        let mut copy = HostTensor::blank(self)?;
        for (from, to) in self.ranges() {
            copy.image_mut()[from..to].copy_from_slice(&self.image()[from..to]);
        }
        Ok(copy)
    }

    /// Fills every element with the poison pattern of its dtype.
    pub fn poison(&mut self) {
        let (dtype, pattern) = (self.layout.dtype, codec::poison(self.layout.dtype));
        self.rewrite_rows(|_, row| row.fill(codec::mask(dtype, pattern)));
    }

    /// Number of elements that still carry the poison pattern.
    pub fn count_poison(&self) -> usize {
        let pattern = codec::mask(self.layout.dtype, codec::poison(self.layout.dtype));
        let mut row = Vec::new();
        let mut count = 0;
        for index in self.live_rows() {
            self.read_row(index, &mut row);
            count += row.iter().filter(|&&bits| bits == pattern).count();
        }
        count
    }

    /// Reads the patterns of row `index` (rows are counted over all dimensions but the last) into `row`.
    pub fn read_row(&self, index: usize, row: &mut Vec<u64>) {
        row.clear();
        let (start, step) = (self.row_start(index), self.last_step());
        let size = self.layout.dtype.bits() / 8;
        let image = self.image();
        let width = self.layout.width();
        if step == size as isize {
            let bytes = &image[start..start + width * size];
            match size {
                1 => row.extend(bytes.iter().map(|&b| u64::from(b))),
                2 => row.extend(bytes.as_chunks::<2>().0.iter().map(|&b| u64::from(u16::from_le_bytes(b)))),
                4 => row.extend(bytes.as_chunks::<4>().0.iter().map(|&b| u64::from(u32::from_le_bytes(b)))),
                _ => row.extend(bytes.as_chunks::<8>().0.iter().map(|&b| u64::from_le_bytes(b))),
            }
            return;
        }
        row.extend((0..width).map(|i| {
            let at = start.wrapping_add_signed(step * i as isize);
            let mut word = [0_u8; 8];
            word[..size].copy_from_slice(&image[at..at + size]);
            u64::from_le_bytes(word)
        }));
    }

    /// The elements at these places of a tensor of one dimension, side by side.
    ///
    /// # Errors
    /// As [`HostTensor::zeros`].
    pub fn picked(&self, places: &[usize]) -> Result<HostTensor, HostError> {
        let mut row = Vec::new();
        self.read_row(0, &mut row);
        let mut out = HostTensor::zeros(Layout::contiguous(self.layout.dtype, &[places.len()]))?;
        let some: Vec<u64> = places.iter().filter_map(|&at| row.get(at).copied()).collect();
        out.write_row(0, &some);
        Ok(out)
    }

    /// Writes the patterns of row `index`; `row` holds one per element.
    pub fn write_row(&mut self, index: usize, row: &[u64]) {
        let (start, step) = (self.row_start(index), self.last_step());
        let size = self.layout.dtype.bits() / 8;
        let image = self.image_mut();
        if step == size as isize {
            lay(&mut image[start..start + row.len() * size], row, size);
            return;
        }
        for (i, bits) in row.iter().enumerate() {
            let at = start.wrapping_add_signed(step * i as isize);
            image[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// Whether every row matters.
    pub fn is_whole(&self) -> bool {
        self.sampled.is_none()
    }

    /// The rows that matter: all, or the sampled ones.
    fn live_rows(&self) -> Vec<usize> {
        self.sampled.clone().unwrap_or_else(|| (0..self.layout.rows()).collect())
    }

    /// Writes the patterns of every row, whatever they were.
    pub fn fill_rows(&mut self, mut fill: impl FnMut(usize, &mut [u64])) {
        let mut row = vec![0; self.layout.width()];
        for index in self.live_rows() {
            fill(index, &mut row);
            self.write_row(index, &row);
        }
    }

    /// Writes the patterns of every row, whatever they were, on several threads where there are many. `fill` is given the row's
    /// index and a row that holds the patterns of some other.
    pub fn fill_rows_apart(&mut self, fill: impl Fn(usize, &mut [u64]) + Sync) {
        let (rows, width, size) = (self.layout.rows(), self.layout.width(), self.layout.dtype.bits() / 8);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        if threads == 1 || rows * width < MANY || !self.is_contiguous() || self.sampled.is_some() {
            self.fill_rows(fill);
            return;
        }
        let start = self.origin;
        let elements = &mut self.image_mut()[start..start + rows * width * size];
        // Whoever is ready takes the next part: in a virtual machine one processor may get less done than another.
        let each = (MANY / 8).div_ceil(width);
        let parts = Mutex::new(elements.chunks_mut(each * width * size).enumerate());
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut row = vec![0; width];
            while let Some((part, bytes)) = next() {
                for (index, bytes) in bytes.chunks_mut(width * size).enumerate() {
                    fill(part * each + index, &mut row);
                    lay(bytes, &row, size);
                }
            }
        };
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
    }

    /// Copies the sampled rows over all others in turn; from then on every row matters.
    pub fn repeat_rows(&mut self) {
        let Some(live) = self.sampled.take().filter(|live| !live.is_empty()) else { return };
        self.lay_guards();
        let bytes = self.layout.width() * (self.layout.dtype.bits() / 8);
        let close = self.last_step() == (self.layout.dtype.bits() / 8) as isize;
        let sampled: HashSet<usize> = live.iter().copied().collect();
        let mut row = Vec::new();
        for to in (0..self.layout.rows()).filter(|row| !sampled.contains(row)) {
            let from = live[to % live.len()];
            if close {
                let (from, to) = (self.row_start(from), self.row_start(to));
                self.image_mut().copy_within(from..from + bytes, to);
            } else {
                self.read_row(from, &mut row);
                self.write_row(to, &row);
            }
        }
    }

    /// Applies `change` to the patterns of every row.
    pub fn rewrite_rows(&mut self, mut change: impl FnMut(usize, &mut [u64])) {
        let mut row = Vec::new();
        for index in self.live_rows() {
            self.read_row(index, &mut row);
            change(index, &mut row);
            self.write_row(index, &row);
        }
    }

    /// Writes numbers in row-major order, each rounded once; integers are clamped to the dtype's range.
    ///
    /// # Errors
    /// [`HostError::Count`] when there is not one number per element.
    pub fn set_values(&mut self, values: &[f64]) -> Result<(), HostError> {
        if values.len() != self.layout.elements() {
            return Err(HostError::Count { expected: self.layout.elements(), actual: values.len() });
        }
        let (dtype, width) = (self.layout.dtype, self.layout.width());
        self.rewrite_rows(|index, row| {
            for (bits, &value) in row.iter_mut().zip(&values[index * width..]) {
                *bits = codec::encode(dtype, value);
            }
        });
        Ok(())
    }

    /// All elements as numbers in row-major order. Integers past 2^53 round.
    pub fn values(&self) -> Vec<f64> {
        let dtype = self.layout.dtype;
        let mut out = Vec::with_capacity(self.layout.elements());
        let mut row = Vec::new();
        for index in 0..self.layout.rows() {
            self.read_row(index, &mut row);
            codec::decode_row(dtype, &row, &mut out);
        }
        out
    }

    /// Whether rows follow one another without gaps.
    fn is_contiguous(&self) -> bool {
        Layout::contiguous(self.layout.dtype, &self.layout.shape).strides == self.layout.strides
    }

    /// Byte step between neighbours of a row.
    fn last_step(&self) -> isize {
        self.layout.strides.last().copied().unwrap_or(1) * (self.layout.dtype.bits() / 8) as isize
    }

    /// Byte offset in the image of the first element of a row.
    fn row_start(&self, index: usize) -> usize {
        let outer = self.layout.shape.len().saturating_sub(1);
        let mut rest = index;
        let mut elements = 0_isize;
        for axis in (0..outer).rev() {
            elements += self.layout.strides[axis] * (rest % self.layout.shape[axis]) as isize;
            rest /= self.layout.shape[axis];
        }
        self.origin.wrapping_add_signed(elements * (self.layout.dtype.bits() / 8) as isize)
    }
}

/// Writes patterns of `size` bytes side by side.
fn lay(bytes: &mut [u8], row: &[u64], size: usize) {
    match size {
        1 => bytes.iter_mut().zip(row).for_each(|(byte, &bits)| *byte = bits as u8),
        2 => bytes.as_chunks_mut().0.iter_mut().zip(row).for_each(|(to, &bits)| *to = (bits as u16).to_le_bytes()),
        4 => bytes.as_chunks_mut().0.iter_mut().zip(row).for_each(|(to, &bits)| *to = (bits as u32).to_le_bytes()),
        _ => bytes.as_chunks_mut().0.iter_mut().zip(row).for_each(|(to, &bits)| *to = bits.to_le_bytes()),
    }
}

#[cfg(test)]
mod tests;
