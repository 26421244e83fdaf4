// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device memory that a harness owns.

use crate::DeviceError;

/// A block of device memory. Freed on drop.
pub trait Buffer: Send {
    /// The address on the device.
    fn data(&self) -> *mut u8;
    /// Its size.
    fn bytes(&self) -> usize;
    /// Copies from the host, and waits.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], or an error of the driver.
    fn write(&mut self, offset: usize, source: &[u8]) -> Result<(), DeviceError>;
    /// Copies to the host, and waits for the copy (not for streams: synchronise them first).
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], or an error of the driver.
    fn read(&self, offset: usize, target: &mut [u8]) -> Result<(), DeviceError>;
}

/// Checks that `length` bytes from `offset` lie within `bytes`.
pub(crate) fn check_range(offset: usize, length: usize, bytes: usize) -> Result<(), DeviceError> {
    match offset.checked_add(length) {
        Some(end) if end <= bytes => Ok(()),
        end => Err(DeviceError::OutOfBounds { start: offset, end: end.unwrap_or(usize::MAX), bytes }),
    }
}
