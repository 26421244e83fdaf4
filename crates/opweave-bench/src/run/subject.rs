// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A validated case as something to time: one call, or the replay of a graph of calls.

use std::rc::Rc;
use std::time::Instant;

use opweave_device::{Activity, Event, Graph, Instruments, Stream};
use opweave_numerics::harness::PreparedCase;

use super::carousel::Carousel;
use crate::instruments::failed;
use crate::kernels;
use crate::measurement::Timer;
use crate::replay::ReplayTimer;
use crate::sampler::{Sample, Subject, SubjectError};

/// Calls one at a time, rotating through sets of arguments.
pub(super) struct Eager<'a> {
    sets: Vec<Box<dyn PreparedCase>>,
    carousel: Rc<Carousel<'a>>,
    stream: &'a dyn Stream,
    interval: Interval<'a>,
}

/// What tells the time of a call.
enum Interval<'a> {
    /// The host's clock.
    Wall,
    /// Two events on the stream.
    Events(Box<dyn Event>, Box<dyn Event>),
    /// The device's records of its kernels.
    Kernels(&'a dyn Activity),
}

impl<'a> Eager<'a> {
    /// Single calls timed by the device's records if there are any, by events, or by the host's clock.
    pub(super) fn new(
        sets: Vec<Box<dyn PreparedCase>>,
        carousel: Rc<Carousel<'a>>,
        stream: &'a dyn Stream,
        timer: Timer,
        activity: Option<&'a dyn Activity>,
    ) -> Result<Self, SubjectError> {
        let interval = match (timer, activity) {
            (Timer::Kernel, Some(activity)) => Interval::Kernels(activity),
            (Timer::Event, _) => Interval::Events(stream.event().map_err(failed)?, stream.event().map_err(failed)?),
            _ => Interval::Wall,
        };
        Ok(Self { sets, carousel, stream, interval })
    }
}

impl Subject for Eager<'_> {
    fn before_sample(&mut self) -> Result<(), SubjectError> {
        if let Some(set) = self.carousel.last().map(|last| &mut self.sets[last]).filter(|set| set.has_reset()) {
            // The set that ran last: by its next turn the copy that this makes has left the caches again.
            set.reset().map_err(failed)?;
        }
        if self.carousel.turn()? {
            self.stream.synchronize().map_err(failed)?;
        }
        self.sets[self.carousel.at()].touch();
        match self.interval {
            Interval::Kernels(activity) => kernels::forget(activity, self.stream),
            _ => Ok(()),
        }
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let (set, stream) = (&self.sets[self.carousel.at()], self.stream.borrow());
        match &mut self.interval {
            Interval::Kernels(activity) => {
                set.launch(stream).map_err(failed)?;
                kernels::sample(*activity, self.stream, 1)
            }
            Interval::Wall => {
                let start = Instant::now();
                set.launch(stream).map_err(failed)?;
                let enqueued = Instant::now();
                self.stream.synchronize().map_err(failed)?;
                let end = Instant::now();
                let us = |to: Instant| to.duration_since(start).as_secs_f64() * 1e6;
                Ok(Sample { enqueue_us: Some(us(enqueued)), ..Sample::completion(us(end)) })
            }
            Interval::Events(before, after) => {
                before.record(stream).map_err(failed)?;
                let start = Instant::now();
                set.launch(stream).map_err(failed)?;
                let enqueue_us = Some(start.elapsed().as_secs_f64() * 1e6);
                after.record(stream).map_err(failed)?;
                self.stream.synchronize().map_err(failed)?;
                Ok(Sample { enqueue_us, ..Sample::completion(after.elapsed_us(&**before).map_err(failed)?) })
            }
        }
    }
}

/// Captured calls with the memory that they use.
pub(super) struct Captured {
    // Before the memory that they use.
    graph: Box<dyn Graph>,
    lead: Lead,
    sets: Vec<Box<dyn PreparedCase>>,
}

/// What runs ahead of a timed replay. A device that works by itself is then still busy when the host hands over what is
/// timed, and the interval holds no wait for the host.
enum Lead {
    /// The device's own copies put the arguments back.
    Restore(Box<dyn Graph>),
    /// The calls change nothing: they run once more.
    Again,
    /// The host works, or puts the arguments back: nothing can run ahead.
    Host,
}

impl Captured {
    /// Captures `calls` calls that go through the sets in turn.
    pub(super) fn new(
        sets: Vec<Box<dyn PreparedCase>>,
        calls: usize,
        stream: &dyn Stream,
        ahead: Option<&dyn Instruments>,
    ) -> Result<Self, SubjectError> {
        let launch = |call: usize| sets[call % sets.len()].launch(stream.borrow()).map_err(failed);
        let graph = capture(stream, || (0..calls).try_for_each(launch))?;
        let lead = match ahead {
            Some(instruments) if sets.iter().any(|set| set.has_reset()) => {
                let restore = |set: &dyn PreparedCase| set.restore(instruments, stream.borrow()).map_err(failed);
                // What the copies are made from is made by the first, which cannot be while a stream is captured.
                sets.first().map_or(Ok(()), |set| restore(&**set))?;
                Lead::Restore(capture(stream, || sets.iter().try_for_each(|set| restore(&**set)))?)
            }
            Some(_) => Lead::Again,
            None => Lead::Host,
        };
        Ok(Self { graph, lead, sets })
    }

    /// Enqueues what may come before the next replay of any graph: this one has run.
    fn lead(&mut self, stream: &dyn Stream) -> Result<(), SubjectError> {
        match &self.lead {
            Lead::Restore(graph) => graph.replay(stream.borrow()).map_err(failed),
            Lead::Again => self.graph.replay(stream.borrow()).map_err(failed),
            Lead::Host => {
                let mut changed = self.sets.iter_mut().filter(|set| set.has_reset());
                changed.try_for_each(|set| set.reset().map_err(failed))
            }
        }
    }
}

/// The graph of what `calls` enqueues.
fn capture(
    stream: &dyn Stream,
    calls: impl FnOnce() -> Result<(), SubjectError>,
) -> Result<Box<dyn Graph>, SubjectError> {
    stream.begin_capture().map_err(failed)?;
    let enqueued = calls();
    // A capture that was begun is always ended, or the stream would stay in it.
    let graph = stream.end_capture().map_err(failed);
    enqueued?;
    graph
}

/// Replays graphs, rotating through them as [`Eager`] does through sets of arguments.
pub(super) struct Replay<'a> {
    graphs: Vec<Captured>,
    carousel: Rc<Carousel<'a>>,
    calls: usize,
    stream: &'a dyn Stream,
    timer: ReplayTimer,
    activity: Option<&'a dyn Activity>,
}

impl<'a> Replay<'a> {
    /// Replays of graphs of `calls` calls each, timed by events, or by the device's records of their kernels if there are any.
    pub(super) fn new(
        graphs: Vec<Captured>,
        carousel: Rc<Carousel<'a>>,
        calls: usize,
        stream: &'a dyn Stream,
        activity: Option<&'a dyn Activity>,
    ) -> Result<Self, SubjectError> {
        Ok(Self { graphs, carousel, calls, stream, timer: ReplayTimer::new(stream)?, activity })
    }
}

impl Subject for Replay<'_> {
    fn calls(&self) -> usize {
        self.calls
    }

    fn before_sample(&mut self) -> Result<(), SubjectError> {
        if let Some(last) = self.carousel.last() {
            // The one that ran last: by its next turn the copy that this makes has left the caches again.
            self.graphs[last].lead(self.stream)?;
        }
        self.carousel.turn()?;
        self.activity.map_or(Ok(()), |activity| kernels::forget(activity, self.stream))
    }

    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let graph = &*self.graphs[self.carousel.at()].graph;
        let Some(activity) = self.activity else { return self.timer.replay(graph, self.stream, self.calls) };
        graph.replay(self.stream.borrow()).map_err(failed)?;
        kernels::sample(activity, self.stream, self.calls)
    }
}
