// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The most that this host gives to any kernel: plain copies, plain reads, multiply-adds in registers.
//!
//! They use the instruction sets, the threads and the division of work that real kernels use, so a real kernel's share of
//! them says how much it loses to its own arithmetic.

mod copy;
mod multiply_add;
mod read;

pub use copy::copy;
pub use multiply_add::multiply_add;
pub use read::read;

use opweave_device::{Instruments, LaunchError, StreamRef};

use crate::simd::{Isa, last_level_cache};

/// Bytes that a task handles at once; a multiple of every vector.
const BLOCK: usize = 16 << 10;

/// The host's instruments, over the best instruction set.
#[derive(Clone, Copy, Debug)]
pub struct CpuInstruments {
    isa: Isa,
}

impl CpuInstruments {
    /// Instruments over `isa`.
    pub fn new(isa: Isa) -> Self {
        CpuInstruments { isa }
    }
}

impl Default for CpuInstruments {
    fn default() -> Self {
        CpuInstruments::new(Isa::best())
    }
}

impl Instruments for CpuInstruments {
    unsafe fn copy(
        &self,
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError> {
        // SAFETY: the caller's clauses are the same.
        unsafe { copy(self.isa, stream.pool(), source, target, bytes, bytes >= last_level_cache()) };
        Ok(())
    }

    unsafe fn read(&self, source: *const u8, bytes: usize, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // SAFETY: the caller's clauses are the same.
        unsafe { read(self.isa, stream.pool(), source, bytes) };
        Ok(())
    }

    fn multiply_add(&self, rounds: u64, stream: StreamRef<'_>) -> Result<u64, LaunchError> {
        Ok(multiply_add(self.isa, stream.pool(), rounds))
    }

    fn last_level_cache(&self) -> Option<u64> {
        Some(last_level_cache() as u64)
    }
}
