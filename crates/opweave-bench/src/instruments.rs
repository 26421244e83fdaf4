// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The ceilings' [`Probe`] over a device's [`Instruments`].
//!
//! A transfer copies as many bytes as are written and reads the rest, between pieces of a buffer of its own. Cold transfers
//! walk through one of three times the last-level cache, so that no sample finds its bytes there.

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

/// Memory that samples walk through, `places` pieces of `piece` bytes.
struct Arena {
    buffer: Box<dyn Buffer>,
    piece: usize,
    places: usize,
    at: usize,
    walks: bool,
}

impl Arena {
    /// Three pieces, in which every sample works again; or as many as hold `walked` bytes, through which samples walk.
    fn new(device: &dyn Device, bytes: usize, walked: Option<usize>) -> Result<Self, SubjectError> {
        let piece = bytes.next_multiple_of(ALIGN).max(ALIGN);
        let places = walked.map_or(3, |walked| walked.div_ceil(piece).max(3));
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
        Ok(Self { buffer, piece, places, at: 0, walks: walked.is_some() })
    }

    fn next(&mut self) {
        if self.walks {
            self.at = (self.at + 1) % self.places;
        }
    }

    /// Three pieces, each a third of the way around from the last.
    fn pieces(&self) -> [*mut u8; 3] {
        [0, 1, 2].map(|third| {
            let at = (self.at + self.places * third / 3) % self.places;
            // Within the buffer by construction; no memory is touched here.
            self.buffer.data().wrapping_add(at * self.piece)
        })
    }
}

struct Transfer<'a> {
    instruments: &'a dyn Instruments,
    stream: &'a dyn Stream,
    copied: usize,
    only_read: usize,
    /// All that is read and written: every byte is the same, so that what was a target may be a source.
    arena: Arena,
}

impl Transfer<'_> {
    fn next(&mut self) {
        self.arena.next();
    }

    fn launch(&self) -> Result<(), SubjectError> {
        let [source, target, rest] = self.arena.pieces();
        if self.copied > 0 {
            // SAFETY: clause "readable, writable, no overlap, aligned": two different pieces of a buffer that this subject owns,
            // each of at least `copied` bytes at a multiple of 64, alive past the synchronisation of each sample.
            unsafe { self.instruments.copy(source, target, self.copied, self.stream.borrow()) }.map_err(failed)?;
        }
        if self.only_read > 0 {
            // SAFETY: clause "readable and aligned": a piece of a buffer that this subject owns, of at least `only_read` bytes.
            unsafe { self.instruments.read(rest, self.only_read, self.stream.borrow()) }.map_err(failed)?;
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
        let (copied, only_read) = (size(written)?, size(read.saturating_sub(written))?);
        // What was written is read a third of the way around later, and a third alone fills the caches.
        let walked = match cache {
            Cache::Hot => None,
            Cache::Cold => Some(size(self.last_level_bytes.saturating_mul(3))?),
        };
        let arena = Arena::new(self.device, copied.max(only_read), walked)?;
        let transfer = Transfer { instruments: self.instruments, stream: self.stream, copied, only_read, arena };
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
    use std::collections::BTreeSet;
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

    #[test]
    fn cold_pieces_walk_through_more_than_the_cache() {
        let device = CpuDevice::new(Arc::new(Serial));
        let mut arena = Arena::new(&device, 100, Some(8192)).unwrap();
        assert_eq!((arena.piece, arena.places), (128, 64));
        let first = arena.pieces();
        let mut seen = BTreeSet::new();
        for _ in 0..arena.places {
            let pieces = BTreeSet::from(arena.pieces().map(|piece| piece.addr()));
            assert_eq!(pieces.len(), 3, "a copy needs two places");
            seen.extend(pieces);
            arena.next();
        }
        assert_eq!((seen.len(), arena.pieces()), (64, first));
        // Pieces larger than what is walked through are still apart.
        assert_eq!(BTreeSet::from(Arena::new(&device, 9000, Some(8192)).unwrap().pieces()).len(), 3);
        let mut hot = Arena::new(&device, 100, None).unwrap();
        let places = hot.pieces();
        hot.next();
        assert_eq!((hot.places, hot.pieces()), (3, places), "hot stays in its place");
    }
}
