// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The engine's memory for what operators stream: one block for all matrices, and scratch.

use std::ops::Range;

use half::f16;
use opweave::DeviceId;
use opweave::device::cpu::HostBuffer;

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
