// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! One measured series, and the proof that two of them may be put side by side.
//!
//! A time means nothing without what was timed. [`Kind`] says it - timer, scope, metric, cache state - and travels with
//! the samples. A ratio or a verdict can only be had from a [`Pair`], and a pair can only be built from two series of
//! one kind, so a device interval never meets a host interval by accident.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::samples::Samples;
use crate::stats::{self, Interval, StatsError, Summary, Trend};

/// What a closed set of names has in common: the spelling in reports and on the command line.
macro_rules! named {
    ($(#[$m:meta])* $name:ident { $($(#[$vm:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$vm])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The spelling in reports and on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.name()) }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownName;
            fn from_str(s: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|v| v.name() == s).ok_or_else(|| UnknownName {
                    what: stringify!($name).to_lowercase(),
                    given: s.to_owned(),
                    known: Self::ALL.iter().map(|v| v.name()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}

/// A name outside a closed set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("read {what} `{given}`: known are {known}")]
pub struct UnknownName {
    what: String,
    given: String,
    known: String,
}

named! {
    /// How a time was taken.
    Timer {
        /// Device time of the operator's kernels, without host dispatch or gaps.
        Kernel = "kernel",
        /// Device interval around the prepared call, host gaps between launches included.
        Event = "event",
        /// Interval of a graph replay, divided by its calls.
        Graph = "graph",
        /// Kernel time inside graph replays.
        GraphKernel = "graph_kernel",
        /// Host time on a monotonic clock.
        Wall = "wall",
        /// Span on each rank, maximum over ranks.
        Distributed = "distributed",
    }
}

named! {
    /// How much of the work was timed.
    Scope {
        /// The launch sequence itself.
        KernelOnly = "kernel_only",
        /// The repeated production call with its metadata and set-up kernels.
        EndToEnd = "end_to_end",
    }
}

named! {
    /// Which end of the call a time runs to.
    Metric {
        /// Until the result is there.
        Completion = "completion",
        /// Until the host is free again.
        Enqueue = "enqueue",
        /// From the start of the first kernel to the end of the last, with the gaps between them.
        Span = "span",
    }
}

named! {
    /// Where the inputs are when the timed interval begins.
    Cache {
        /// In memory: the inputs rotate through more than the last-level cache, or it was flushed.
        Cold = "cold",
        /// Wherever the call before left them.
        Hot = "hot",
    }
}

/// What a time is a time of. Two series are comparable only if these are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// How the time was taken.
    pub timer: Timer,
    /// How much of the work was timed.
    pub scope: Scope,
    /// Which end of the call it runs to.
    pub metric: Metric,
    /// Where the inputs were.
    pub cache: Cache,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.timer, self.scope, self.metric, self.cache)
    }
}

/// Samples of one implementation on one case, with what they are samples of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// How the time was taken.
    pub timer: Timer,
    /// How much of the work was timed.
    pub scope: Scope,
    /// Which end of the call it runs to.
    pub metric: Metric,
    /// Where the inputs were.
    pub cache: Cache,
    /// The value of the row: arithmetic mean of the rounds' medians, microseconds per call.
    pub impl_us: f64,
    /// Median of each round, in order.
    pub round_us: Vec<f64>,
    /// Every sample of each round, per call.
    pub samples: Samples,
    /// Statistics over all samples.
    pub summary: Summary,
    /// Drift over the run, if there are samples enough to tell.
    pub trend: Option<Trend>,
    /// Why no verdict may rest on these numbers, if so.
    pub no_verdict: Option<String>,
}

impl Measurement {
    /// Builds a measurement from the samples of each round, in order.
    ///
    /// # Errors
    /// No round, a round without a sample, or a sample that is no time.
    pub fn new(kind: Kind, rounds_us: Vec<Vec<f64>>, no_verdict: Option<String>) -> Result<Self, StatsError> {
        if rounds_us.is_empty() {
            return Err(StatsError::Empty);
        }
        let rounds_us: Vec<Vec<f64>> =
            rounds_us.iter().map(|r| r.iter().map(|&s| to_clock_digits(s)).collect()).collect();
        let round_us = rounds_us.iter().map(|r| stats::median(r)).collect::<Result<Vec<_>, _>>()?;
        let all: Vec<f64> = rounds_us.concat();
        let summary = Summary::of(&all)?;
        let impl_us = round_us.iter().map(|r| r / round_us.len() as f64).sum();
        let Kind { timer, scope, metric, cache } = kind;
        let trend = stats::trend(&all);
        let samples = Samples::keep(&rounds_us);
        Ok(Self { timer, scope, metric, cache, impl_us, round_us, samples, summary, trend, no_verdict })
    }

    /// What was timed.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind { timer: self.timer, scope: self.scope, metric: self.metric, cache: self.cache }
    }

    /// The range in which the value lies: the interval of the median, widened to the range of the rounds.
    ///
    /// Samples within a round resemble each other more than rounds do, so the interval of all samples alone would claim
    /// too much. `None` where one sample leaves the spread unknown.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let samples = self.summary.median_interval_us?;
        let low = self.round_us.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.round_us.iter().copied().fold(0.0, f64::max);
        Some(samples.hull(Interval { low_us: low, high_us: high }))
    }
}

/// Clocks tick in nanoseconds; more digits would only fill the file. The time of many calls divided by their number is
/// finer, so small values keep three digits more.
fn to_clock_digits(us: f64) -> f64 {
    let per_us = if us < 1.0 { 1e6 } else { 1e3 };
    (us * per_us).round() / per_us
}

/// Two series that measure the same thing.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    base: &'a Measurement,
    new: &'a Measurement,
}

/// Two series of different kinds met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("compare `{base}` with `{new}`: both need the same timer, scope, metric and cache state")]
pub struct Unlike {
    /// Kind of the base.
    pub base: Kind,
    /// Kind of the other.
    pub new: Kind,
}

impl<'a> Pair<'a> {
    /// Puts two series side by side.
    ///
    /// # Errors
    /// [`Unlike`] if timer, scope, metric or cache state differ.
    pub fn new(base: &'a Measurement, new: &'a Measurement) -> Result<Self, Unlike> {
        if base.kind() != new.kind() {
            return Err(Unlike { base: base.kind(), new: new.kind() });
        }
        Ok(Self { base, new })
    }

    /// The first series.
    #[must_use]
    pub fn base(&self) -> &'a Measurement {
        self.base
    }

    /// The second series.
    #[must_use]
    pub fn new_one(&self) -> &'a Measurement {
        self.new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind =
        Kind { timer: Timer::Wall, scope: Scope::KernelOnly, metric: Metric::Completion, cache: Cache::Hot };

    #[test]
    fn the_value_is_the_mean_of_round_medians() {
        let m = Measurement::new(KIND, vec![vec![1.0, 9.0, 2.0], vec![4.0]], None).unwrap();
        assert_eq!((m.round_us.clone(), m.impl_us), (vec![2.0, 4.0], 3.0));
        assert_eq!(m.samples.rounds_us().unwrap(), vec![vec![1.0, 9.0, 2.0], vec![4.0]]);
        assert_eq!(m.summary.n, 4);
    }

    #[test]
    fn unlike_kinds_never_meet() {
        let base = Measurement::new(KIND, vec![vec![1.0, 2.0]], None).unwrap();
        let unlike = [
            Kind { timer: Timer::Event, ..KIND },
            Kind { scope: Scope::EndToEnd, ..KIND },
            Kind { metric: Metric::Enqueue, ..KIND },
            Kind { cache: Cache::Cold, ..KIND },
        ];
        for kind in unlike {
            let new = Measurement::new(kind, vec![vec![1.0, 2.0]], None).unwrap();
            assert_eq!(Pair::new(&base, &new).unwrap_err(), Unlike { base: KIND, new: kind });
        }
        assert!(Pair::new(&base, &base).is_ok());
    }

    #[test]
    fn the_interval_covers_the_rounds() {
        let rounds = vec![vec![10.0; 50], vec![11.0; 10]];
        let m = Measurement::new(KIND, rounds, None).unwrap();
        assert_eq!(m.summary.median_interval_us.map(|i| i.high_us), Some(10.0));
        assert_eq!(m.interval().map(|i| i.high_us), Some(11.0));
        assert_eq!(Measurement::new(KIND, vec![vec![10.0]], None).unwrap().interval(), None);
    }

    #[test]
    fn a_round_without_samples_is_an_error() {
        assert_eq!(Measurement::new(KIND, vec![], None), Err(StatsError::Empty));
        assert_eq!(Measurement::new(KIND, vec![vec![1.0], vec![]], None), Err(StatsError::Empty));
    }

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for timer in Timer::ALL {
            assert_eq!(timer.name().parse::<Timer>().unwrap(), *timer);
        }
        let error = "cuda".parse::<Timer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "read timer `cuda`: known are kernel, event, graph, graph_kernel, wall, distributed"
        );
    }
}
