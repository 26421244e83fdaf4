// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bytes at an address of a given alignment.

/// Zeroed bytes that begin at a multiple of an alignment.
pub(super) struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub(super) fn new(length: usize, align: usize) -> Self {
        let align = align.max(1);
        let bytes = vec![0; length + align];
        let start = (bytes.as_ptr() as usize).next_multiple_of(align) - bytes.as_ptr() as usize;
        Aligned { bytes, start, length }
    }

    pub(super) fn get(&self) -> &[u8] {
        &self.bytes[self.start..][..self.length]
    }

    pub(super) fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.length]
    }
}
