// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels that find out what a device can do at best: the ceilings that reports divide by.

use crate::{LaunchError, StreamRef};

/// The best own kernels for moving bytes and for arithmetic, with nothing else to do.
pub trait Instruments: Send + Sync {
    /// Reads `bytes` from `source` and writes them to `target`.
    ///
    /// # Errors
    /// [`LaunchError`] of the launch.
    ///
    /// # Safety
    /// - `source` is readable and `target` writable for `bytes` bytes until the stream is synchronised; they do not
    ///   overlap and are aligned to 64 bytes.
    unsafe fn copy(
        &self,
        source: *const u8,
        target: *mut u8,
        bytes: usize,
        stream: StreamRef<'_>,
    ) -> Result<(), LaunchError>;

    /// Reads `bytes` from `source` and folds them into a value that cannot be optimised away.
    ///
    /// # Errors
    /// [`LaunchError`] of the launch.
    ///
    /// # Safety
    /// - `source` is readable for `bytes` bytes until the stream is synchronised, and aligned to 64 bytes.
    unsafe fn read(&self, source: *const u8, bytes: usize, stream: StreamRef<'_>) -> Result<(), LaunchError>;

    /// Runs f32 multiply-adds in registers on every thread of the stream, `rounds` rounds of them, and answers how many
    /// floating-point operations that was.
    ///
    /// # Errors
    /// [`LaunchError`] of the launch.
    fn multiply_add(&self, rounds: u64, stream: StreamRef<'_>) -> Result<u64, LaunchError>;

    /// Bytes of the last-level cache, or `None` when the system does not say.
    fn last_level_cache(&self) -> Option<u64>;
}
