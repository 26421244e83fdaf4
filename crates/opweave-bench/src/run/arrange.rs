// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How the samples of a case are arranged: the same for every implementation that takes turns, inside this process or not.

use std::rc::Rc;

use opweave_device::{DeviceKind, Instruments};
use opweave_numerics::Mode;
use opweave_numerics::harness::PreparedCase;

use super::carousel::Carousel;
use super::case::{Bench, work};
use super::cold::{Flush, MAX_SETS, Rotation, sets_within};
use super::external::Arranged;
use super::subject::{Captured, Eager, Replay};
use crate::instruments::failed;
use crate::measurement::{Cache, Timer};
use crate::sampler::{SampleError, Subject, SubjectError};

/// Sets of arguments that calls change, in one graph, where the host puts them back after each replay, one by one.
const CHANGING_SETS: u64 = 32;

/// Sets of arguments in a graph: each is some allocations, of which a driver makes about a thousand in a second.
const SETS: u64 = 64;

/// The same of all graphs of a series.
const ALL_SETS: u64 = 128;

/// Sets that are kept in a cache: independent calls, and few enough to be made in no time.
const HOT_SETS: usize = 8;

/// Hot calls that change their arguments in one graph, at least where memory and time admit it, though the caches may not hold
/// so many sets: with fewer, the start of the replay itself would be timed.
const CHANGING_CALLS: usize = 8;

/// An arrangement, and what a report says of it.
pub(super) struct Arrangement {
    pub(super) arranged: Arranged,
    pub(super) method: String,
}

impl Bench<'_> {
    /// How the samples of `case` are taken in this cache state.
    pub(super) fn arrange(&self, case: &dyn PreparedCase, cache: Cache) -> Result<Arrangement, SampleError> {
        let last_level = self.ground.caches.last_level_bytes;
        let bytes = work(case.cost()).bytes();
        let (calls, sets, turn, most) = match self.config.selectors.mode {
            Mode::Eager => (1, 1, bytes, sets_within(case.memory(), MAX_SETS)),
            Mode::Graph => {
                let (calls, sets) = self.graph_of(case, cache, bytes)?;
                let graph = sets as u64;
                let most = sets_within(case.memory().saturating_mul(graph), (ALL_SETS / graph).max(1));
                (calls, sets, bytes.saturating_mul(graph), most)
            }
        };
        let rotation = Rotation::new(cache, turn, last_level, most);
        let what = match self.config.selectors.mode {
            Mode::Eager => "sets of arguments".to_owned(),
            Mode::Graph => format!("graphs of {sets} sets of arguments"),
        };
        let method = format!("{what}: {}", rotation.words(cache, turn, last_level));
        let flush_bytes = if rotation.flush { last_level.saturating_mul(2).max(64) } else { 0 };
        let arranged = Arranged { timer: self.timer, cache, calls, sets, turns: rotation.sets, flush_bytes };
        Ok(Arrangement { arranged, method })
    }

    /// Calls in a graph and the sets of arguments that they go through.
    fn graph_of(&self, case: &dyn PreparedCase, cache: Cache, bytes: u64) -> Result<(usize, usize), SampleError> {
        let calls = self.graph_calls(case)?;
        let last_level = self.ground.caches.last_level_bytes;
        let fit = |cache: u64, most: usize| (cache / bytes.max(1)).clamp(1, calls.min(most) as u64) as usize;
        let held = |most: u64| sets_within(case.memory(), most.min(calls as u64)) as usize;
        if case.has_reset() {
            // Each call changes what it reads, so no set runs twice before it is put back.
            let most = held(if self.ahead().is_some() { SETS } else { CHANGING_SETS });
            let sets = match cache {
                Cache::Cold => most,
                Cache::Hot => fit(last_level / 2, most).max(CHANGING_CALLS.min(most)),
            };
            return Ok((sets, sets));
        }
        match cache {
            Cache::Hot => Ok((calls, fit(last_level / 2, HOT_SETS))),
            Cache::Cold => {
                let sets = held(SETS);
                // A set that comes again within the graph has to have left the caches.
                let leaves = bytes.saturating_mul(sets as u64) >= last_level.saturating_mul(2);
                Ok((if leaves { calls } else { sets }, sets))
            }
        }
    }

    /// The implementations of a case as something to time. They use the same sets of arguments in turns, so that they differ by
    /// nothing but what they do.
    pub(super) fn subjects<'s>(
        &'s self,
        cases: &[&dyn PreparedCase],
        arranged: &Arranged,
    ) -> Result<Vec<Box<dyn Subject + 's>>, SampleError> {
        let Some((first, others)) = cases.split_first() else { return Ok(Vec::new()) };
        let flush = match self.ground.numerics.device {
            Ok(device) if arranged.flush_bytes > 0 => {
                Some(Flush::new(&**device, self.ground.instruments, self.stream, arranged.flush_bytes)?)
            }
            _ => None,
        };
        let carousel = Rc::new(Carousel::new(arranged.turns, flush));
        let count = arranged.turns * if self.config.selectors.mode == Mode::Eager { 1 } else { arranged.sets };
        let mut sets: Vec<Vec<_>> = cases.iter().map(|_| Vec::with_capacity(count)).collect();
        for _ in 0..count {
            // Set by set, so that what belongs to one set lies together for each of them.
            let own = first.twin().map_err(failed)?;
            let beside = others.iter().map(|case| case.twin_on(&*own).map_err(failed));
            let beside = beside.collect::<Result<Vec<_>, SubjectError>>()?;
            sets.iter_mut().zip(std::iter::once(own).chain(beside)).for_each(|(sets, set)| sets.push(set));
        }
        let all = sets.into_iter();
        all.map(|sets| self.subject(sets, Rc::clone(&carousel), arranged)).collect()
    }

    fn subject<'s>(
        &'s self,
        mut sets: Vec<Box<dyn PreparedCase>>,
        carousel: Rc<Carousel<'s>>,
        arranged: &Arranged,
    ) -> Result<Box<dyn Subject + 's>, SampleError> {
        if self.config.selectors.mode == Mode::Eager {
            return Ok(Box::new(Eager::new(sets, carousel, self.stream, self.timer, self.activity)?));
        }
        let mut graphs = Vec::with_capacity(arranged.turns);
        while !sets.is_empty() {
            let of_graph = sets.drain(..arranged.sets.min(sets.len())).collect();
            graphs.push(Captured::new(of_graph, arranged.calls, self.stream, self.ahead())?);
        }
        Ok(Box::new(Replay::new(graphs, carousel, arranged.calls, self.stream, self.activity)?))
    }

    /// The instruments of a device that works by itself, where work can run ahead of what is timed.
    fn ahead(&self) -> Option<&dyn Instruments> {
        let device = self.ground.numerics.device.ok()?;
        self.ground.instruments.filter(|_| device.key().kind() != DeviceKind::Cpu)
    }

    /// Calls in a graph: the protocol's number, halved until ten replays fit half the time limit.
    fn graph_calls(&self, case: &dyn PreparedCase) -> Result<usize, SampleError> {
        let twin = case.twin().map_err(failed)?;
        let mut once = Eager::new(vec![twin], Rc::new(Carousel::new(1, None)), self.stream, Timer::Wall, None)?;
        once.sample()?;
        let us = once.sample()?.completion_us;
        let mut calls = self.config.protocol.graph_calls.max(1);
        while calls > 1 && us * calls as f64 * 10.0 > self.config.protocol.limit_ms * 1e3 / 2.0 {
            calls /= 2;
        }
        Ok(calls)
    }
}
