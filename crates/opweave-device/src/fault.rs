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

use crate::DeviceError;

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
            self.code.store(u64::from(fault.operation) << 32 | u64::from(fault.clause), Ordering::Relaxed);
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
        Ok(Some(RawFault { operation: (code >> 32) as u32, clause: code as u32, row }))
    }
}
