// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Tensors in memory that is watched: every byte that is no element carries a pattern.

use half::{bf16, f16};
use opweave_cpu::Rows;
use opweave_cpu::normalization::Columns;
use opweave_tensor::DType;

/// Bytes before and after the elements: more than any vector.
const GUARD: usize = 256;

/// Where a tensor's elements lie relative to a 64-byte boundary, and how far its rows are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Elements from the boundary to the first one.
    pub(crate) offset: usize,
    /// Elements between the end of a row and the next row.
    pub(crate) gap: usize,
}

#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) dtype: DType,
    pub(crate) rows: usize,
    pub(crate) width: usize,
    place: Place,
    /// Words, so that the allocation is aligned.
    memory: Vec<u64>,
    start: usize,
}

fn pattern(at: usize) -> u8 {
    (at.wrapping_mul(0x9d) >> 3) as u8 ^ 0x5c
}

impl Tensor {
    /// A tensor with the values `f(row, column)`, rounded to `dtype`.
    pub(crate) fn new(
        dtype: DType,
        rows: usize,
        width: usize,
        place: Place,
        f: impl Fn(usize, usize) -> f64,
    ) -> Tensor {
        let size = dtype.bits() / 8;
        let span = rows * (width + place.gap) * size;
        let bytes = GUARD + 64 + place.offset * size + span + GUARD;
        let mut memory = vec![0_u64; bytes.div_ceil(8)];
        let base = memory.as_ptr() as usize;
        let start = (base + GUARD).next_multiple_of(64) - base + place.offset * size;
        let mut tensor = Tensor { dtype, rows, width, place, start, memory: Vec::new() };
        for (at, byte) in bytes_of(&mut memory).iter_mut().enumerate() {
            *byte = pattern(at.wrapping_sub(tensor.start));
        }
        tensor.memory = memory;
        for row in 0..rows {
            for column in 0..width {
                tensor.set(row, column, f(row, column));
            }
        }
        tensor
    }

    /// `rows` rows, row `r` with the bytes of row `r % self.rows`.
    pub(crate) fn repeat(&self, rows: usize, place: Place) -> Tensor {
        let mut tensor = Tensor::new(self.dtype, rows, 0, Place { gap: self.width + place.gap, ..place }, |_, _| 0.0);
        tensor.width = self.width;
        tensor.place = place;
        let bytes_per_row = self.width * self.dtype.bits() / 8;
        for row in 0..rows {
            let (from, to) = (self.at(row % self.rows, 0), tensor.at(row, 0));
            bytes_of(&mut tensor.memory)[to..to + bytes_per_row]
                .copy_from_slice(&bytes(&self.memory)[from..from + bytes_per_row]);
        }
        tensor
    }

    /// The same tensor in memory that ends with its last element, so that a memory checker sees what comes after it.
    pub(crate) fn tight(&self) -> Tensor {
        let end = self.at(self.rows - 1, self.width);
        let shift = end.next_multiple_of(8) - end;
        let mut memory = vec![0_u64; (shift + end) / 8];
        let copy = bytes_of(&mut memory);
        copy[shift..].copy_from_slice(&bytes(&self.memory)[..end]);
        for (at, byte) in copy[..shift].iter_mut().enumerate() {
            *byte = pattern(at.wrapping_sub(self.start + shift));
        }
        Tensor { memory, start: self.start + shift, ..*self }
    }

    fn stride(&self) -> usize {
        self.width + self.place.gap
    }

    fn at(&self, row: usize, column: usize) -> usize {
        self.start + (row * self.stride() + column) * (self.dtype.bits() / 8)
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, value: f64) {
        let at = self.at(row, column);
        let value = opweave_reference::round(self.dtype, value) as f32;
        let bytes = bytes_of(&mut self.memory);
        match self.dtype {
            DType::F32 => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
            DType::F16 => bytes[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes()),
            _ => bytes[at..at + 2].copy_from_slice(&bf16::from_f32(value).to_le_bytes()),
        }
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        let at = self.at(row, column);
        let bytes = &bytes(&self.memory)[at..];
        let half = || u16::from_le_bytes([bytes[0], bytes[1]]);
        match self.dtype {
            DType::F32 => f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            DType::F16 => f16::from_bits(half()).to_f64(),
            _ => bf16::from_bits(half()).to_f64(),
        }
    }

    pub(crate) fn row(&self, row: usize) -> Vec<f64> {
        (0..self.width).map(|column| self.get(row, column)).collect()
    }

    /// The bits of all elements.
    pub(crate) fn bits(&self) -> Vec<u8> {
        let size = self.dtype.bits() / 8;
        let row = |row| bytes(&self.memory)[self.at(row, 0)..self.at(row, 0) + self.width * size].to_vec();
        (0..self.rows).flat_map(row).collect()
    }

    pub(crate) fn rows_view(&mut self) -> Rows {
        let stride = self.stride() as isize;
        Rows { data: bytes_of(&mut self.memory)[self.start..].as_mut_ptr(), stride }
    }

    pub(crate) fn columns(&self) -> Columns {
        Columns { data: bytes(&self.memory)[self.start..].as_ptr(), dtype: self.dtype }
    }

    /// Panics if a byte outside the elements was written.
    pub(crate) fn assert_intact(&self, context: &dyn std::fmt::Debug) {
        let size = self.dtype.bits() / 8;
        let (stride, width) = (self.stride() * size, self.width * size);
        for (at, &byte) in bytes(&self.memory).iter().enumerate() {
            let inside = at >= self.start && at < self.start + self.rows * stride && (at - self.start) % stride < width;
            assert!(
                inside || byte == pattern(at.wrapping_sub(self.start)),
                "byte {} relative to the first element was written: {context:?}",
                at as isize - self.start as isize
            );
        }
    }
}

fn bytes(words: &[u64]) -> &[u8] {
    // SAFETY: the same memory as bytes, which have no alignment and no invalid values.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above, and every byte pattern is a valid word.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}
