// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The ceilings' [`Probe`] over a device's [`Instruments`].
//!
//! A transfer copies as many bytes as are written and reads the rest, between pieces of a buffer of its own. Cold transfers
//! walk through it, and move twice the last-level cache before they come to a piece again, so that no sample finds its bytes there.

use std::time::Instant;

use opweave_device::{Activity, Buffer, Device, DeviceKind, Graph, Instruments, Stream};

use crate::ceilings::Probe;
use crate::kernels;
use crate::measurement::Cache;
use crate::replay::ReplayTimer;
use crate::sampler::{Sample, Subject, SubjectError};

/// Alignment that the instruments ask for.
const ALIGN: usize = 64;
/// Rounds of multiply-adds in one sample: about a millisecond on one core, long against the start of threads.
const MULTIPLY_ADD_ROUNDS: u64 = 100_000;

/// A device with its own plain kernels.
pub struct DeviceProbe<'a> {
    device: &'a dyn Device,
    instruments: &'a dyn Instruments,
    stream: &'a dyn Stream,
    last_level_bytes: u64,
    activity: Option<&'a dyn Activity>,
}

impl<'a> DeviceProbe<'a> {
    /// A probe that takes its memory from `device` and runs on `stream`.
    pub fn new(
        device: &'a dyn Device,
        instruments: &'a dyn Instruments,
        stream: &'a dyn Stream,
        last_level_bytes: u64,
    ) -> Self {
        Self { device, instruments, stream, last_level_bytes, activity: None }
    }

    /// The same probe with transfers timed by the device's records of its kernels, for rows that are: what lies between two
    /// launches is in neither.
    #[must_use]
    pub fn by_kernels(self, activity: Option<&'a dyn Activity>) -> Self {
        Self { activity, ..self }
    }
}

/// Any error of the device as one of a subject.
pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> SubjectError {
    SubjectError(Box::new(error))
}

/// Memory that samples walk through, `places` pieces of `piece` bytes, of which each sample works in some.
struct Arena {
    buffer: Box<dyn Buffer>,
    piece: usize,
    places: usize,
    at: usize,
    walks: bool,
}

/// What one transfer does.
#[derive(Clone, Copy, Debug)]
struct Moved {
    copied: usize,
    only_read: usize,
}

impl Moved {
    /// Pieces that one transfer works in: where it copies from and to, and what it only reads.
    const PIECES: usize = 3;

    /// Pieces of `piece` bytes so that a cache of `last_level` bytes has nothing of one left when it is used again. What it is
    /// used for may be another thing then, as all bytes are the same.
    fn places(self, piece: usize, last_level: usize) -> usize {
        let (copies, reads) = (usize::from(self.copied > 0), usize::from(self.only_read > 0));
        let (used, bytes) = (2 * copies + reads, self.copied.saturating_mul(2).saturating_add(self.only_read));
        let twice = last_level.saturating_mul(2).saturating_mul(used).div_ceil(bytes.max(1));
        // Where one piece is hardly used, and the others are most of what is moved, more would do nothing.
        twice.min(last_level.saturating_mul(3).div_ceil(piece)).max(Self::PIECES)
    }
}

impl Arena {
    /// Three pieces, in which every sample works again; or as many as a cold transfer walks through beside a cache of this size.
    fn new(device: &dyn Device, moved: Moved, last_level: Option<usize>) -> Result<Self, SubjectError> {
        let piece = moved.copied.max(moved.only_read).next_multiple_of(ALIGN).max(ALIGN);
        let places = last_level.map_or(Moved::PIECES, |last_level| moved.places(piece, last_level));
        let size = piece.checked_mul(places).ok_or_else(|| SubjectError("the arena's size overflows".into()))?;
        let mut buffer = device.allocate(size, ALIGN).map_err(failed)?;
        // Fresh pages all map to one page of zeros until they are written, and reading that page is no memory traffic.
        let mut offset = 0;
        let pattern = vec![0x3c_u8; 1 << 22];
        while offset < size {
            let part = pattern.len().min(size - offset);
            buffer.write(offset, &pattern[..part]).map_err(failed)?;
            offset += part;
        }
        Ok(Self { buffer, piece, places, at: 0, walks: last_level.is_some() })
    }

    fn next(&mut self) {
        if self.walks {
            self.at = (self.at + 1) % self.places;
        }
    }

    /// Where this transfer copies from and to, half of the way apart if that is all it does, and what it reads.
    fn pieces(&self, moved: Moved) -> [*mut u8; Moved::PIECES] {
        let used = if moved.only_read == 0 { 2 } else { 3 };
        [0, 1, 2].map(|part| {
            let at = (self.at + self.places * part / used) % self.places;
            // Within the buffer by construction; no memory is touched here.
            self.buffer.data().wrapping_add(at * self.piece)
        })
    }
}

struct Transfer<'a> {
    instruments: &'a dyn Instruments,
    stream: &'a dyn Stream,
    moved: Moved,
    /// All that is read and written: every byte is the same, so that what was a target may be a source.
    arena: Arena,
}

impl Transfer<'_> {
    fn next(&mut self) {
        self.arena.next();
    }

    fn launch(&self) -> Result<(), SubjectError> {
        let Moved { copied, only_read } = self.moved;
        let [source, target, rest] = self.arena.pieces(self.moved);
        if copied > 0 {
            // SAFETY: clause "readable, writable, no overlap, aligned": two different pieces of a buffer that this subject owns,
            // each of at least `copied` bytes at a multiple of 64, alive past the synchronisation of each sample.
            unsafe { self.instruments.copy(source, target, copied, self.stream.borrow()) }.map_err(failed)?;
        }
        if only_read > 0 {
            // SAFETY: clause "readable and aligned": a piece of a buffer that this subject owns, of at least `only_read` bytes.
            unsafe { self.instruments.read(rest, only_read, self.stream.borrow()) }.map_err(failed)?;
        }
        Ok(())
    }
}

impl Subject for Transfer<'_> {
    fn before_sample(&mut self) -> Result<(), SubjectError> {
        self.next();
        Ok(())
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let start = Instant::now();
        self.launch()?;
        self.stream.synchronize().map_err(failed)?;
        Ok(Sample::completion(start.elapsed().as_secs_f64() * 1e6))
    }
}

/// Transfers one at a time, by the device's records of their kernels.
struct Recorded<'a> {
    transfer: Transfer<'a>,
    activity: &'a dyn Activity,
}

impl Subject for Recorded<'_> {
    fn before_sample(&mut self) -> Result<(), SubjectError> {
        self.transfer.next();
        kernels::forget(self.activity, self.transfer.stream)
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        self.transfer.launch()?;
        kernels::sample(self.activity, self.transfer.stream, 1)
    }
}

/// Transfers on a device that works by itself: a launch and a wait would be most of a short one's time, so a graph of many is
/// replayed between two events, as the operators are.
struct Replayed<'a> {
    // Before the memory that it uses.
    graph: Box<dyn Graph>,
    timer: ReplayTimer,
    transfer: Transfer<'a>,
}

/// Transfers in a graph.
const REPLAYED: usize = 32;

impl<'a> Replayed<'a> {
    fn new(mut transfer: Transfer<'a>) -> Result<Self, SubjectError> {
        let stream = transfer.stream;
        stream.begin_capture().map_err(failed)?;
        let launched = (0..REPLAYED).try_for_each(|_| {
            transfer.next();
            transfer.launch()
        });
        // A capture that was begun is always ended, or the stream would stay in it.
        let graph = stream.end_capture().map_err(failed);
        launched?;
        Ok(Replayed { graph: graph?, timer: ReplayTimer::new(stream)?, transfer })
    }
}

impl Subject for Replayed<'_> {
    fn calls(&self) -> usize {
        REPLAYED
    }

    fn before_sample(&mut self) -> Result<(), SubjectError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        self.timer.replay(&*self.graph, self.transfer.stream, REPLAYED)
    }
}

struct MultiplyAdd<'a> {
    instruments: &'a dyn Instruments,
    stream: &'a dyn Stream,
}

impl MultiplyAdd<'_> {
    fn run(&self) -> Result<u64, SubjectError> {
        let flops = self.instruments.multiply_add(MULTIPLY_ADD_ROUNDS, self.stream.borrow()).map_err(failed)?;
        self.stream.synchronize().map_err(failed)?;
        Ok(flops)
    }
}

impl Subject for MultiplyAdd<'_> {
    fn before_sample(&mut self) -> Result<(), SubjectError> {
        Ok(())
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let start = Instant::now();
        self.run()?;
        Ok(Sample::completion(start.elapsed().as_secs_f64() * 1e6))
    }
}

impl Probe for DeviceProbe<'_> {
    fn transfer(&mut self, read: u64, written: u64, cache: Cache) -> Result<Box<dyn Subject + '_>, SubjectError> {
        let size = |n: u64| usize::try_from(n).map_err(failed);
        let moved = Moved { copied: size(written)?, only_read: size(read.saturating_sub(written))? };
        let last_level = match cache {
            Cache::Hot => None,
            Cache::Cold => Some(size(self.last_level_bytes)?),
        };
        let arena = Arena::new(self.device, moved, last_level)?;
        let transfer = Transfer { instruments: self.instruments, stream: self.stream, moved, arena };
        if let Some(activity) = self.activity {
            return Ok(Box::new(Recorded { transfer, activity }));
        }
        if matches!(self.device.id().kind, DeviceKind::Cpu | DeviceKind::Noop) || !self.device.has_graphs() {
            return Ok(Box::new(transfer));
        }
        Ok(Box::new(Replayed::new(transfer)?))
    }

    fn multiply_add(&mut self) -> Result<(Box<dyn Subject + '_>, u64), SubjectError> {
        let subject = MultiplyAdd { instruments: self.instruments, stream: self.stream };
        let flops = subject.run()?;
        Ok((Box::new(subject), flops))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use opweave_device::cpu::{CpuDevice, Serial};
    use opweave_device::{DeviceError, KernelSpan, LaunchError, StreamRef};

    use super::*;

    /// Counts what it is asked to move, and moves it.
    #[derive(Default)]
    struct Counting {
        copied: AtomicU64,
        read: AtomicU64,
    }

    impl Instruments for Counting {
        unsafe fn copy(&self, s: *const u8, t: *mut u8, n: usize, _: StreamRef<'_>) -> Result<(), LaunchError> {
            assert!(s.addr().is_multiple_of(64) && t.addr().is_multiple_of(64));
            // SAFETY: the caller's clause is this function's.
            unsafe { std::ptr::copy_nonoverlapping(s, t, n) };
            self.copied.fetch_add(n as u64, Ordering::Relaxed);
            Ok(())
        }
        unsafe fn read(&self, s: *const u8, n: usize, _: StreamRef<'_>) -> Result<(), LaunchError> {
            // SAFETY: the caller's clause is this function's.
            assert!((0..n).all(|i| unsafe { *s.add(i) } == 0x3c));
            self.read.fetch_add(n as u64, Ordering::Relaxed);
            Ok(())
        }
        fn multiply_add(&self, rounds: u64, _: StreamRef<'_>) -> Result<u64, LaunchError> {
            Ok(2 * rounds)
        }
        fn last_level_cache(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn a_transfer_moves_exactly_the_bytes_it_is_asked_for() {
        let device = CpuDevice::new(Arc::new(Serial));
        let stream = device.stream().unwrap();
        for (read, written, copied, only_read) in
            [(1000, 1000, 1000, 0), (1000, 0, 0, 1000), (1001, 300, 300, 701), (10, 40, 40, 0)]
        {
            for cache in [Cache::Hot, Cache::Cold] {
                let counting = Counting::default();
                let mut probe = DeviceProbe::new(&device, &counting, &*stream, 4096);
                let mut subject = probe.transfer(read, written, cache).unwrap();
                for _ in 0..50 {
                    subject.before_sample().unwrap();
                    assert!(subject.sample().unwrap().completion_us >= 0.0);
                }
                drop(subject);
                let moved = (counting.copied.into_inner(), counting.read.into_inner());
                assert_eq!(moved, (50 * copied, 50 * only_read), "{read} {written} {cache}");
            }
        }
    }

    /// A device that records one kernel of 7 us each time.
    struct Records(AtomicU64);

    impl Activity for Records {
        fn take(&self) -> Result<Vec<KernelSpan>, DeviceError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(vec![KernelSpan { start_ns: 1000, end_ns: 8000 }])
        }
    }

    #[test]
    fn transfers_beside_rows_that_kernels_time_are_timed_by_kernels() {
        let device = CpuDevice::new(Arc::new(Serial));
        let stream = device.stream().unwrap();
        let (counting, records) = (Counting::default(), Records(AtomicU64::new(0)));
        let mut probe = DeviceProbe::new(&device, &counting, &*stream, 4096).by_kernels(Some(&records));
        let mut subject = probe.transfer(1000, 1000, Cache::Cold).unwrap();
        for _ in 0..3 {
            subject.before_sample().unwrap();
            assert_eq!(subject.sample().unwrap().completion_us, 7.0);
        }
        drop(subject);
        // What ran before a sample is forgotten, and each sample is taken once.
        assert_eq!((counting.copied.into_inner(), records.0.into_inner()), (3000, 6));
    }

    /// What lies between two uses of a place, at least, and the pieces of the transfer.
    fn least_between(arena: &mut Arena, moved: Moved) -> usize {
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        let mut least = usize::MAX;
        let sizes = [moved.copied, moved.copied, moved.only_read];
        for turn in 0..4 * arena.places {
            let used: Vec<usize> =
                arena.pieces(moved).iter().zip(sizes).filter(|(_, size)| *size > 0).map(|(p, _)| p.addr()).collect();
            assert_eq!(used.iter().collect::<BTreeSet<_>>().len(), used.len(), "they lie apart");
            for place in used {
                if let Some(before) = last.insert(place, turn) {
                    least = least.min((turn - before) * sizes.iter().sum::<usize>());
                }
            }
            arena.next();
        }
        least
    }

    #[test]
    fn cold_pieces_come_again_after_twice_the_cache() {
        let device = CpuDevice::new(Arc::new(Serial));
        let last_level = 1 << 16;
        for (copied, only_read) in
            [(100, 0), (0, 100), (4096, 4096), (1 << 16, 0), (0, 1 << 15), (1000, 5000), (5000, 1000)]
        {
            let moved = Moved { copied, only_read };
            let mut arena = Arena::new(&device, moved, Some(last_level)).unwrap();
            let least = least_between(&mut arena, moved);
            // Rounding to whole places takes less than a transfer on either side.
            let sloppy = 2 * (2 * copied + only_read);
            let enough = if 2 * copied >= only_read || copied == 0 { 2 * last_level } else { last_level };
            assert!(least + sloppy >= enough, "{moved:?}: {least} of {enough}");
            let held = arena.places * arena.piece;
            assert!(held <= (3 * last_level).max(3 * arena.piece) + arena.piece, "{moved:?}: {held}");
        }
        // What only copies needs no more than twice the cache.
        let copy = Moved { copied: 4096, only_read: 0 };
        assert_eq!(Arena::new(&device, copy, Some(last_level)).unwrap().places, 32);
        let mut hot = Arena::new(&device, copy, None).unwrap();
        let places = hot.pieces(copy);
        hot.next();
        assert_eq!((hot.places, hot.pieces(copy)), (3, places), "hot stays in its place");
    }
}
