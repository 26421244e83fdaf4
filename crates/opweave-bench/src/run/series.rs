// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From samples to the series of a row: measurements, rates, share of the ceiling, ratio to a baseline.

use crate::ceilings::gb_per_s;
use crate::compare::{Verdict, judge_turns};
use crate::measurement::{Cache, Kind, Measurement, Metric, Pair, Scope, Timer};
use crate::protocol::Share;
use crate::report::{Against, Row, Series, Work};
use crate::sampler::{Sample, SampleError, SubjectError, Taken};
use crate::stats;

/// Differences below this count as none between implementations in one run.
const THRESHOLD: f64 = 0.01;
/// The same by the host's clock: of one kernel under two names, one is up to a percent ahead of the other for as long as a process lives.
const HOST_THRESHOLD: f64 = 0.03;
/// A cold rate this far above the ceiling did not come from memory.
const ABOVE_CEILING: f64 = 1.05;

/// Samples of one implementation in one cache state.
pub(super) struct Timed<'a> {
    pub(super) taken: &'a Taken,
    pub(super) timer: Timer,
    pub(super) cache: Cache,
    pub(super) work: Work,
    pub(super) calls: usize,
    pub(super) cache_method: String,
    pub(super) ceiling: Option<f64>,
}

/// The completion series, and those of the enqueue and the span where the timer tells them.
pub(super) fn series(timed: &Timed<'_>) -> Result<Vec<Series>, SampleError> {
    let mut all = vec![one(timed, Metric::Completion, |s| Some(s.completion_us))?];
    if timed.taken.rounds.iter().flatten().all(|s| s.enqueue_us.is_some())
        && timed.taken.rounds.iter().any(|r| !r.is_empty())
    {
        all.push(one(timed, Metric::Enqueue, |s| s.enqueue_us)?);
    }
    if timed.taken.rounds.iter().flatten().any(|s| s.span_us.is_some()) {
        all.push(one(timed, Metric::Span, |s| s.span_us)?);
    }
    Ok(all)
}

fn one(timed: &Timed<'_>, metric: Metric, of: impl Fn(&Sample) -> Option<f64>) -> Result<Series, SampleError> {
    // How soon the host is free is a matter of its own clock, whatever times the device.
    let timer = if metric == Metric::Enqueue { Timer::Wall } else { timed.timer };
    let kind = Kind { timer, scope: Scope::KernelOnly, metric, cache: timed.cache };
    let rounds = timed.taken.rounds.iter().map(|r| r.iter().filter_map(&of).collect()).collect();
    let measurement = Measurement::new(kind, rounds, timed.taken.no_verdict.clone())
        .map_err(|error| SubjectError(Box::new(error)))?;
    let us = measurement.impl_us;
    // A clock too coarse for the call gives zero, and zero has no rate.
    let rated = metric == Metric::Completion && us > 0.0;
    let bytes = timed.work.bytes();
    let rate = (rated && bytes > 0).then(|| gb_per_s(bytes, us));
    let ceiling = timed.ceiling.filter(|_| rated);
    let share = rate.zip(ceiling).map(|(rate, ceiling)| rate / ceiling);
    Ok(Series {
        counts: timed.taken.counts.clone(),
        sampling_s: timed.taken.elapsed.as_secs_f64(),
        calls_per_sample: timed.calls,
        cache_method: timed.cache_method.clone(),
        gb_per_s: rate,
        gflop_per_s: (rated && timed.work.flops > 0).then(|| timed.work.flops as f64 / us / 1e3),
        ceiling_gb_per_s: ceiling,
        share_of_ceiling: share,
        cache_resident: timed.cache == Cache::Cold && share.is_some_and(|s| s > ABOVE_CEILING),
        measurement,
    })
}

/// Ours against a baseline that took turns with it, for every completion series.
pub(super) fn against(ours: &Row, baseline: &Row, turns: u32) -> Vec<Against> {
    let completion = |s: &&Series| s.measurement.metric == Metric::Completion;
    let mut all = Vec::new();
    for series in ours.series.iter().filter(completion) {
        for other in baseline.series.iter().filter(completion) {
            // Only like kinds make a pair.
            let Ok(pair) = Pair::new(&series.measurement, &other.measurement) else { continue };
            let (ours, base) = (pair.base(), pair.new_one());
            let ratios: Vec<f64> = base.round_us.iter().zip(&ours.round_us).map(|(b, o)| b / o).collect();
            let ratio = base.impl_us / ours.impl_us;
            if !(ratio.is_finite() && ratio > 0.0) {
                continue;
            }
            let threshold = if ours.kind().timer == Timer::Wall { HOST_THRESHOLD } else { THRESHOLD };
            let (mut verdict, paired) = judge_turns(&turn_ratios(base, ours, turns), threshold);
            if ours.no_verdict.is_some() || base.no_verdict.is_some() {
                verdict = Verdict::Ambiguous;
            }
            all.push(Against {
                implementation: baseline.implementation.name.clone(),
                series: ours.kind().to_string(),
                ratio,
                round_ratios: ratios,
                paired,
                threshold,
                verdict,
            });
        }
    }
    all
}

/// Baseline over ours, turn by turn. A turn took as many samples of its round as any other; where time ran out first that is nearly so.
fn turn_ratios(base: &Measurement, ours: &Measurement, turns: u32) -> Vec<f64> {
    let rounds = |m: &Measurement| m.samples.rounds_us().unwrap_or_default();
    let mut ratios = Vec::new();
    for (base, ours) in rounds(base).iter().zip(&rounds(ours)) {
        let parts = (turns as usize).min(base.len()).min(ours.len()) as u64;
        for part in 0..parts {
            let middle = |samples: &[f64]| stats::interquartile_mean(Share { part, parts }.slice(samples));
            ratios.push(middle(base).unwrap_or(f64::NAN) / middle(ours).unwrap_or(f64::NAN));
        }
    }
    ratios
}
