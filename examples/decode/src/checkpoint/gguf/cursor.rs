// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Little-endian fields of a file whose length is known: nothing is reserved that the file could not fill.

use std::io::Read;

use crate::checkpoint::Defect;

/// Reads forward and counts what is left.
pub(super) struct Cursor<'a> {
    source: &'a mut dyn Read,
    at: u64,
    left: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a mut dyn Read, length: u64) -> Self {
        Cursor { source, at: 0, left: length }
    }

    /// Bytes that were read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Fails unless `count` items of at least `least` bytes each can follow, and answers the count.
    pub(super) fn fits(&self, count: u64, least: u64, what: &str) -> Result<usize, Defect> {
        let needs = count.saturating_mul(least);
        match usize::try_from(count) {
            Ok(count) if needs <= self.left => Ok(count),
            _ => Err(Defect::Truncated { what: what.to_owned(), needs, left: self.left }),
        }
    }

    pub(super) fn bytes(&mut self, count: u64, what: &str) -> Result<Vec<u8>, Defect> {
        let mut bytes = vec![0; self.fits(count, 1, what)?];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Defect> {
        self.source.read_exact(bytes)?;
        self.at += bytes.len() as u64;
        self.left -= bytes.len() as u64;
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Defect> {
        self.fits(N as u64, 1, what)?;
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32, Defect> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64, Defect> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A length of 8 bytes and that much text.
    pub(super) fn text(&mut self, what: &str) -> Result<String, Defect> {
        let length = self.u64(what)?;
        let bytes = self.bytes(length, what)?;
        String::from_utf8(bytes).map_err(|_| Defect::Text { what: what.to_owned() })
    }
}
