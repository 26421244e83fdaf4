// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How a series gets its cache state.
//!
//! Cold: the calls rotate through sets of arguments which together exceed twice the last-level cache, so that each set
//! was evicted since its last turn. Small calls would need thousands of sets; they get some and a flush each time the
//! rotation comes around. Hot: one set, again and again.

use opweave_device::{Buffer, Device, Instruments, Stream};

use crate::instruments::failed;
use crate::measurement::Cache;
use crate::sampler::SubjectError;

/// Most turns of a rotation: enough that a flush per rotation weighs little, few enough to be made in milliseconds.
pub(super) const MAX_SETS: u64 = 256;

/// Memory that all sets of a series may take, as long as there is one: a host needs a tenth of a second to fill as much.
const SET_BYTES: u64 = 1 << 27;

/// The most sets, up to `most`, where each takes `memory` bytes.
pub(super) fn sets_within(memory: u64, most: u64) -> u64 {
    (SET_BYTES / memory.max(1)).clamp(1, most)
}

/// How the sets are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation {
    /// Sets of arguments.
    pub(super) sets: usize,
    /// Whether a flush is needed when the rotation comes around.
    pub(super) flush: bool,
}

impl Rotation {
    /// The rotation for calls of `bytes` on a device whose last-level cache holds `last_level`.
    ///
    /// There are no more than `most` turns, where a turn is itself a graph of many sets.
    pub(super) fn new(cache: Cache, bytes: u64, last_level: u64, most: u64) -> Self {
        let twice = last_level.saturating_mul(2);
        if cache == Cache::Hot {
            return Self { sets: 1, flush: false };
        }
        // A call that moves four times the cache evicts its own beginning.
        if bytes >= last_level.saturating_mul(4) {
            return Self { sets: 1, flush: false };
        }
        let most = most.clamp(1, MAX_SETS);
        let sets = twice.div_ceil(bytes.max(1)).clamp(most.min(2), most);
        Self { sets: sets as usize, flush: sets.saturating_mul(bytes) < twice }
    }

    /// In words, for the report.
    pub(super) fn words(self, cache: Cache, bytes: u64, last_level: u64) -> String {
        match (cache, self) {
            (Cache::Hot, _) => "left alone".to_owned(),
            (_, Self { sets: 1, flush: false }) => {
                format!("one moves {bytes} bytes, the last-level cache holds {last_level}")
            }
            (_, Self { sets, flush: false }) => format!("{sets} in turn"),
            (_, Self { sets, flush: true }) => {
                format!("{sets} in turn, {} bytes read each time around", last_level.saturating_mul(2))
            }
        }
    }
}

/// Reads so many bytes that nothing else stays in the caches.
pub(super) struct Flush<'a> {
    arena: Box<dyn Buffer>,
    instruments: Option<&'a dyn Instruments>,
    stream: &'a dyn Stream,
    bytes: usize,
}

impl<'a> Flush<'a> {
    pub(super) fn new(
        device: &dyn Device,
        instruments: Option<&'a dyn Instruments>,
        stream: &'a dyn Stream,
        bytes: u64,
    ) -> Result<Self, SubjectError> {
        let bytes = usize::try_from(bytes).map_err(failed)?;
        let arena = device.allocate(bytes, 64).map_err(failed)?;
        let mut flush = Self { arena, instruments, stream, bytes };
        flush.write()?;
        Ok(flush)
    }

    fn write(&mut self) -> Result<(), SubjectError> {
        let pattern = vec![0x3c_u8; 1 << 20];
        for offset in (0..self.bytes).step_by(pattern.len()) {
            let part = pattern.len().min(self.bytes - offset);
            self.arena.write(offset, &pattern[..part]).map_err(failed)?;
        }
        Ok(())
    }

    /// Enqueues the flush: what comes after it on the stream finds the caches full of something else.
    pub(super) fn enqueue(&mut self) -> Result<(), SubjectError> {
        match self.instruments {
            Some(instruments) => {
                // SAFETY: clause "readable and aligned": the whole of a buffer that this flush owns, allocated at 64.
                unsafe { instruments.read(self.arena.data(), self.bytes, self.stream.borrow()) }.map_err(failed)
            }
            None => self.write(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_bounded_by_the_memory_that_they_take() {
        // A row of a table of 32 MiB is read: 256 sets would be 8 GiB.
        assert_eq!(sets_within(32 << 20, MAX_SETS), 4);
        assert_eq!((sets_within(0, MAX_SETS), sets_within(4096, 64), sets_within(8 << 30, MAX_SETS)), (256, 64, 1));
        // Few sets are flushed each time around.
        assert_eq!(Rotation::new(Cache::Cold, 16_384, 32 << 20, 32), Rotation { sets: 32, flush: true });
    }

    #[test]
    fn cold_calls_move_twice_the_cache_between_two_uses_of_a_set() {
        let llc = 32 << 20;
        for bytes in [0_u64, 64, 4096, 131_072, 262_144, 1 << 20, 33 << 20, 100 << 20] {
            let r = Rotation::new(Cache::Cold, bytes, llc, MAX_SETS);
            let moved = r.sets as u64 * bytes + if r.flush { 2 * llc } else { 0 };
            assert!(moved >= 2 * llc, "{bytes}: {r:?}");
            assert!(r.sets >= 2 && r.sets <= 256, "{bytes}: {r:?}");
        }
        let new = |cache, bytes, most| Rotation::new(cache, bytes, llc, most);
        assert_eq!(new(Cache::Cold, 128 << 20, MAX_SETS), Rotation { sets: 1, flush: false });
        assert_eq!(new(Cache::Cold, 262_144, MAX_SETS), Rotation { sets: 256, flush: false });
        assert_eq!(new(Cache::Cold, 262_144, 2), Rotation { sets: 2, flush: true });
        assert_eq!(new(Cache::Cold, 262_144, 0), Rotation { sets: 1, flush: true });
        assert_eq!(new(Cache::Hot, 64, MAX_SETS), Rotation { sets: 1, flush: false });
    }
}
