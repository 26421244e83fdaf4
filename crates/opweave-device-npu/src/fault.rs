// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The fault buffer on the device.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use opweave_device::{Buffer as _, DeviceError, FaultSink, RawFault};

use crate::{Context, NpuBuffer};

/// Three words of device memory: a state, operation and clause, and the row. Kernels take the state from 0 to 1 with an atomic
/// exchange, write the others and set it to 2.
pub struct NpuFaults {
    context: Arc<Context>,
    words: Mutex<NpuBuffer>,
    pointer: *mut c_void,
}

// SAFETY: the pointer is an address on the device; the buffer is behind a lock.
unsafe impl Send for NpuFaults {}
// SAFETY: as for Send.
unsafe impl Sync for NpuFaults {}

const FULL: u64 = 2;

impl NpuFaults {
    /// An empty fault buffer.
    ///
    /// # Errors
    /// [`DeviceError`] of the runtime.
    pub fn new(context: Arc<Context>) -> Result<Self, DeviceError> {
        let words = NpuBuffer::new(context.clone(), 24, 8)?;
        Ok(NpuFaults { pointer: words.data().cast(), words: Mutex::new(words), context })
    }
}

fn bytes_of(words: [u64; 3]) -> [u8; 24] {
    let mut bytes = [0; 24];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

fn words_of(bytes: [u8; 24]) -> [u64; 3] {
    std::array::from_fn(|i| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8 * i..8 * i + 8]);
        u64::from_ne_bytes(word)
    })
}

impl FaultSink for NpuFaults {
    fn device_pointer(&self) -> *mut c_void {
        self.pointer
    }

    fn raise(&self, fault: RawFault) {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = [0; 24];
        // The first fault wins. A device that cannot be asked will say so to whoever takes the fault.
        let empty =
            self.context.synchronize().and_then(|()| words.read(0, &mut bytes)).is_ok() && words_of(bytes)[0] == 0;
        if empty {
            let code = u64::from(fault.operation) << 32 | u64::from(fault.clause);
            drop(words.write(0, &bytes_of([FULL, code, fault.row])));
        }
    }

    fn take(&self) -> Result<Option<RawFault>, DeviceError> {
        self.context.synchronize()?;
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = [0; 24];
        words.read(0, &mut bytes)?;
        let [state, code, row] = words_of(bytes);
        if state != FULL {
            return Ok(None);
        }
        words.write(0, &bytes_of([0; 3]))?;
        Ok(Some(RawFault { operation: (code >> 32) as u32, clause: code as u32, row }))
    }
}

impl std::fmt::Debug for NpuFaults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "fault buffer of {}", self.context.device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_their_bytes() {
        let words = [FULL, 0xdead_beef_0000_0001, u64::MAX];
        assert_eq!(words_of(bytes_of(words)), words);
    }
}
