// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device memory that a harness owns.

use std::any::Any;

use crate::DeviceError;

/// A block of device memory. Freed on drop.
pub trait Buffer: Send + Any {
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
    /// Copies all of `source`, and waits: on the device where both are of one, else by way of the host. Work on streams that
    /// writes the source has to be done, as for [`Buffer::read`].
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`] if the source is larger, or an error of the driver.
    fn copy_from(&mut self, source: &dyn Buffer) -> Result<(), DeviceError> {
        through_the_host(self, source)
    }
}

/// Bytes that a copy by way of the host takes at a time.
const PART: usize = 1 << 20;

/// Copies all of `source` in parts, for memories that cannot copy from one another.
///
/// # Errors
/// [`DeviceError::OutOfBounds`] if the source is larger, or an error of the driver.
pub fn through_the_host<B: Buffer + ?Sized>(target: &mut B, source: &dyn Buffer) -> Result<(), DeviceError> {
    let bytes = source.bytes();
    check_range(0, bytes, target.bytes())?;
    let mut part = vec![0; bytes.min(PART)];
    for offset in (0..bytes).step_by(PART) {
        let part = &mut part[..PART.min(bytes - offset)];
        source.read(offset, part)?;
        target.write(offset, part)?;
    }
    Ok(())
}

/// Checks that `length` bytes from `offset` lie within `bytes`.
pub(crate) fn check_range(offset: usize, length: usize, bytes: usize) -> Result<(), DeviceError> {
    match offset.checked_add(length) {
        Some(end) if end <= bytes => Ok(()),
        end => Err(DeviceError::OutOfBounds { start: offset, end: end.unwrap_or(usize::MAX), bytes }),
    }
}
