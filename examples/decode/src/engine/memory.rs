// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The engine's memory: one block for all matrices, which operators stream, and how calls see what it owns.

use std::ops::Range;

use half::f16;
use opweave::device::cpu::HostBuffer;
use opweave::opweave_tensor::Element;
use opweave::{DType, DeviceId, RawTensor, ViewError};

use super::EngineError;

/// What every part begins at a multiple of: a cache line, and no less than any layout asks for.
const ALIGN: usize = 128;

/// Halves of a cache line.
const LINE: usize = 32;

/// One block of memory in parts. A token reads all matrices, one after the other: in one block of huge pages that is one stream, as
/// small allocations would not be.
pub(super) struct Arena {
    buffer: HostBuffer,
    taken: usize,
}

impl Arena {
    /// With room for parts of so many bytes in all, each rounded up by [`Arena::part`].
    pub(super) fn new(bytes: usize) -> Result<Self, EngineError> {
        Ok(Arena { buffer: HostBuffer::new(DeviceId::CPU, bytes, ALIGN)?, taken: 0 })
    }

    /// What a part of so many bytes takes.
    pub(super) fn part(bytes: usize) -> usize {
        bytes.next_multiple_of(ALIGN)
    }

    /// The next part.
    pub(super) fn take(&mut self, bytes: usize) -> Range<usize> {
        let start = self.taken;
        self.taken += Arena::part(bytes);
        start..start + bytes
    }

    /// The bytes of a part.
    pub(super) fn get(&self, part: &Range<usize>) -> &[u8] {
        &self.buffer.elements().unwrap_or_default()[part.clone()]
    }

    /// The bytes of a part, to write.
    pub(super) fn get_mut(&mut self, part: &Range<usize>) -> &mut [u8] {
        &mut self.buffer.elements_mut().unwrap_or_default()[part.clone()]
    }

    /// A part of halves.
    pub(super) fn halves(&self, part: &Range<usize>) -> &[f16] {
        &self.buffer.elements().unwrap_or_default()[part.start / 2..part.end / 2]
    }

    /// Halves from a row of so many to the next: whole cache lines, and an odd number of them, so that the lines of one column do not
    /// meet in the same few places of a cache.
    pub(super) fn stride(width: usize) -> usize {
        (width.div_ceil(LINE) | 1) * LINE
    }

    /// Bytes of so many rows of halves.
    pub(super) fn rows(rows: usize, width: usize) -> usize {
        rows * Arena::stride(width) * size_of::<f16>()
    }

    /// Takes a part and fills it with rows of `width` halves, [`Arena::stride`] apart.
    pub(super) fn keep(&mut self, values: &[f16], width: usize) -> Range<usize> {
        let part = self.take(Arena::rows(values.len() / width, width));
        let halves: &mut [f16] = self.buffer.elements_mut().unwrap_or_default();
        let rows = halves[part.start / 2..part.end / 2].chunks_mut(Arena::stride(width));
        rows.zip(values.chunks(width)).for_each(|(to, row)| to[..width].copy_from_slice(row));
        part
    }
}

/// A vector as calls see it that are kept: by its address, which is the same as long as the vector does not grow. Views of it are of
/// its room, whose elements a pass writes before it makes its calls.
#[derive(Clone, Copy)]
pub(super) struct Place {
    data: *mut u8,
    dtype: DType,
    /// In bytes.
    room: usize,
    element: usize,
}

impl Place {
    pub(super) fn of<T: Element>(memory: &mut Vec<T>) -> Self {
        let (element, room) = (size_of::<T>(), memory.capacity() * size_of::<T>());
        Place { data: memory.as_mut_ptr().cast(), dtype: T::DTYPE, room, element }
    }

    /// What is behind so many elements.
    pub(super) fn behind(self, elements: usize) -> Self {
        let bytes = (elements * self.element).min(self.room);
        Place { data: self.data.wrapping_add(bytes), room: self.room - bytes, ..self }
    }

    /// A view of the first elements.
    ///
    /// # Errors
    /// [`ViewError`] when the shape needs more than there are.
    pub(super) fn view(self, shape: &[usize]) -> Result<RawTensor, ViewError> {
        self.within(RawTensor::contiguous(self.data, self.dtype, DeviceId::CPU, shape)?)
    }

    /// A view with strides in elements, none of them negative.
    ///
    /// # Errors
    /// As [`Place::view`].
    pub(super) fn strided(self, shape: &[usize], strides: &[isize]) -> Result<RawTensor, ViewError> {
        self.within(RawTensor::strided(self.data, self.dtype, DeviceId::CPU, shape, strides)?)
    }

    fn within(self, view: RawTensor) -> Result<RawTensor, ViewError> {
        let start = self.data as usize;
        match view.extent() {
            Some(extent) if extent.start >= start && extent.end - start <= self.room => Ok(view),
            extent => Err(ViewError::OutOfBounds {
                shape: view.shape().to_vec(),
                strides: view.strides().to_vec(),
                needed: extent.map_or(u128::MAX, |e| ((e.end - e.start) / self.element) as u128),
                available: self.room / self.element,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_a_place_end_with_its_room() {
        let mut memory: Vec<i64> = Vec::with_capacity(12);
        let (room, data) = (memory.capacity(), memory.as_mut_ptr());
        let place = Place::of(&mut memory);
        assert_eq!(place.view(&[3, room / 3]).unwrap().data(), data.cast());
        assert!(matches!(place.view(&[1, room + 1]), Err(ViewError::OutOfBounds { .. })));
        assert!(place.strided(&[2, 4], &[room as isize - 4, 1]).is_ok());
        assert!(place.strided(&[2, 4], &[room as isize - 3, 1]).is_err());
        assert!(place.strided(&[2, 4], &[-4, 1]).is_err(), "before the first element");
        let last = place.behind(room - 2);
        assert_eq!(last.view(&[2]).unwrap().data(), data.wrapping_add(room - 2).cast());
        assert!(last.view(&[3]).is_err());
        assert!(place.behind(room + 5).view(&[1]).is_err());
    }
}
