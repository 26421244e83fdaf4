// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Faults: values in device data that are outside their table, such as an index or a slot.
//!
//! A kernel cannot return an error, so it writes one into a buffer of the caller's: the first writer wins, the kernel skips
//! what it cannot do and the rest of the call stays right. Reading the buffer synchronises and is the caller's choice. The
//! CPU scans before its first write. It too writes the buffer and goes on; where the caller gave none, it returns the same
//! fault as an error and has written nothing.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Buffer, DeviceError};

/// The 32-bit code of an operation in a fault buffer: FNV-1a of its name.
pub const fn operation_code(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let (mut hash, mut i) = (0x811c_9dc5_u32, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

/// A fault as a kernel writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawFault {
    /// [`operation_code`] of the operation.
    pub operation: u32,
    /// Position of the clause in the signature's list of faults.
    pub clause: u32,
    /// The row of the first offending value that was seen.
    pub row: u64,
}

/// A fault in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{operation}: {clause} in row {row}")]
pub struct Fault {
    /// The operation.
    pub operation: &'static str,
    /// What was out of range.
    pub clause: &'static str,
    /// The row.
    pub row: u64,
}

/// Memory that faults are written to.
pub trait FaultSink: Sync {
    /// The address that kernels write to: a state word, the operation and clause, and the row, of 8 bytes each.
    fn device_pointer(&self) -> *mut c_void;
    /// Records a fault from the host side; the first one wins.
    fn raise(&self, fault: RawFault);
    /// Takes the fault, if any, and clears the buffer. Waits for the work that may still write it.
    ///
    /// # Errors
    /// [`DeviceError`] when the device cannot be asked.
    fn take(&self) -> Result<Option<RawFault>, DeviceError>;
}

const EMPTY: u64 = 0;
const WRITING: u64 = 1;
const FULL: u64 = 2;

/// A fault buffer in host memory: for the CPU and the noop device.
#[derive(Debug, Default)]
#[repr(C)]
pub struct HostFaults {
    state: AtomicU64,
    code: AtomicU64,
    row: AtomicU64,
}

impl FaultSink for HostFaults {
    fn device_pointer(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }

    fn raise(&self, fault: RawFault) {
        if self.state.compare_exchange(EMPTY, WRITING, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            self.code.store(code_of(fault), Ordering::Relaxed);
            self.row.store(fault.row, Ordering::Relaxed);
            self.state.store(FULL, Ordering::Release);
        }
    }

    fn take(&self) -> Result<Option<RawFault>, DeviceError> {
        // Back to WRITING while it is read, so that of two takers one gets the fault and no writer comes in between.
        if self.state.compare_exchange(FULL, WRITING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Ok(None);
        }
        let code = self.code.load(Ordering::Relaxed);
        let row = self.row.load(Ordering::Relaxed);
        self.state.store(EMPTY, Ordering::Release);
        Ok(Some(fault_of(code, row)))
    }
}

/// The word of operation and clause.
fn code_of(fault: RawFault) -> u64 {
    u64::from(fault.operation) << 32 | u64::from(fault.clause)
}

fn fault_of(code: u64, row: u64) -> RawFault {
    RawFault { operation: (code >> 32) as u32, clause: code as u32, row }
}

/// Bytes of a fault buffer.
const BYTES: usize = 24;

/// A fault buffer in the memory of a device that works by itself. Kernels take the state from 0 to 1 with an atomic exchange, write
/// the other words and set it to 2; the host waits for the device before it looks.
pub struct DeviceFaults {
    words: Mutex<Box<dyn Buffer>>,
    address: usize,
    synchronize: Box<dyn Fn() -> Result<(), DeviceError> + Send + Sync>,
}

impl DeviceFaults {
    /// An empty fault buffer in memory that `allocate` makes, of so many bytes at so many; `synchronize` waits for everything on the
    /// device.
    ///
    /// # Errors
    /// [`DeviceError`] of the allocation, or of clearing it.
    pub fn new(
        allocate: impl FnOnce(usize, usize) -> Result<Box<dyn Buffer>, DeviceError>,
        synchronize: impl Fn() -> Result<(), DeviceError> + Send + Sync + 'static,
    ) -> Result<Self, DeviceError> {
        let mut words = allocate(BYTES, align_of::<u64>())?;
        words.write(0, &[0; BYTES])?;
        Ok(Self { address: words.data() as usize, words: Mutex::new(words), synchronize: Box::new(synchronize) })
    }
}

fn bytes_of(words: [u64; 3]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn words_of(bytes: [u8; BYTES]) -> [u64; 3] {
    std::array::from_fn(|i| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
        u64::from_ne_bytes(word)
    })
}

impl FaultSink for DeviceFaults {
    fn device_pointer(&self) -> *mut c_void {
        // An address of the device, which the host does not follow.
        std::ptr::without_provenance_mut(self.address)
    }

    fn raise(&self, fault: RawFault) {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = [0; BYTES];
        // The first fault wins. A device that cannot be asked will say so to whoever takes the fault.
        let empty =
            (self.synchronize)().and_then(|()| words.read(0, &mut bytes)).is_ok() && words_of(bytes)[0] == EMPTY;
        if empty {
            drop(words.write(0, &bytes_of([FULL, code_of(fault), fault.row])));
        }
    }

    fn take(&self) -> Result<Option<RawFault>, DeviceError> {
        (self.synchronize)()?;
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = [0; BYTES];
        words.read(0, &mut bytes)?;
        let [state, code, row] = words_of(bytes);
        if state != FULL {
            return Ok(None);
        }
        words.write(0, &bytes_of([EMPTY; 3]))?;
        Ok(Some(fault_of(code, row)))
    }
}

impl std::fmt::Debug for DeviceFaults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fault buffer at {:#x}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use opweave_tensor::DeviceId;

    use super::*;
    use crate::cpu::HostBuffer;

    #[test]
    fn of_two_faults_on_a_device_the_first_is_taken_once_and_after_the_device_is_done() {
        let waited = std::sync::Arc::new(AtomicU64::new(0));
        let count = std::sync::Arc::clone(&waited);
        let allocate = |bytes, align| {
            let mut buffer = HostBuffer::new(DeviceId::CPU, bytes, align)?;
            buffer.write(0, &vec![0xa5; bytes])?;
            Ok(Box::new(buffer) as Box<dyn Buffer>)
        };
        let synchronize = move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let faults = DeviceFaults::new(allocate, synchronize).unwrap();
        assert_eq!(faults.take(), Ok(None));
        let fault = |row| RawFault { operation: 0xdead_beef, clause: 3, row };
        faults.raise(fault(u64::MAX));
        faults.raise(fault(1));
        assert_eq!(waited.load(Ordering::Relaxed), 3);
        assert_eq!(faults.take(), Ok(Some(fault(u64::MAX))));
        assert_eq!(faults.take(), Ok(None));
        assert!(!faults.device_pointer().is_null());
    }
}
