// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Takes the samples of one case: estimate, warm-up, rounds in counterbalanced order, hard limit, interrupt.
//!
//! The loop knows neither operators nor devices. A [`Subject`] prepares the next sample outside the interval and then
//! takes it with its own timer; the [`Clock`] only serves the limits and the rest between turns, so that tests run the
//! whole protocol on a synthetic clock in no time.

use std::time::{Duration, Instant};

use opweave_numerics::Interrupt;
use thiserror::Error;

use crate::protocol::{CountError, Counts, Protocol, Turn, schedule};
use crate::stats;

/// One sample, microseconds per call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Until the result was there.
    pub completion_us: f64,
    /// Until the host was free again, where the timer can tell.
    pub enqueue_us: Option<f64>,
    /// From the start of the first kernel to the end of the last, where the timer tells kernels apart.
    pub span_us: Option<f64>,
}

impl Sample {
    /// A time until the result was there, and nothing else.
    #[must_use]
    pub const fn completion(us: f64) -> Self {
        Self { completion_us: us, enqueue_us: None, span_us: None }
    }
}

/// An implementation with prepared arguments, ready to be timed.
pub trait Subject {
    /// Calls inside one sample, by whose number its time is divided.
    fn calls(&self) -> usize {
        1
    }

    /// Restores mutable inputs, rotates to the next input set or flushes caches. Never timed.
    ///
    /// # Errors
    /// What the device or the operator reports.
    fn before_sample(&mut self) -> Result<(), SubjectError>;

    /// Takes one sample.
    ///
    /// # Errors
    /// What the device or the operator reports.
    fn sample(&mut self) -> Result<Sample, SubjectError>;
}

/// A call that was to be timed failed.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct SubjectError(pub Box<dyn std::error::Error + Send + Sync>);

/// Time for limits and rests; the samples themselves come from the subject's timer.
pub trait Clock {
    /// Time since a fixed start.
    fn now(&self) -> Duration;
    /// Rests.
    fn sleep(&self, rest: Duration);
}

/// The host's monotonic clock.
#[derive(Debug)]
pub struct HostClock(Instant);

impl Default for HostClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for HostClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, rest: Duration) {
        std::thread::sleep(rest);
    }
}

/// Why a case has no samples.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The call failed.
    #[error("time the call: {0}")]
    Subject(#[from] SubjectError),
    /// The estimate is no time.
    #[error(transparent)]
    Count(#[from] CountError),
    /// The user asked for the end.
    #[error("finish the samples: interrupted")]
    Interrupted,
    /// There is nothing to time.
    #[error("take samples of 0 implementations: at least 1 is needed")]
    Nothing,
}

/// All samples of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Planned counts.
    pub counts: Counts,
    /// Samples of each round in order.
    pub rounds: Vec<Vec<Sample>>,
    /// Time that its turns took, warming up and preparing samples included.
    pub elapsed: Duration,
    /// Why no verdict may rest on them, if so.
    pub no_verdict: Option<String>,
}

/// Estimates stop at this many samples or this much time, whichever comes first.
const ESTIMATE_SAMPLES: usize = 7;
const ESTIMATE_TIME: Duration = Duration::from_millis(20);

/// Times the subjects against each other by the protocol; the result is in the order of the subjects.
///
/// # Errors
/// The first failing call, an estimate that is no time, an interrupt, or an empty list.
pub fn measure(
    subjects: &mut [&mut dyn Subject],
    protocol: &Protocol,
    clock: &dyn Clock,
    stop: &Interrupt,
) -> Result<Vec<Taken>, SampleError> {
    if subjects.is_empty() {
        return Err(SampleError::Nothing);
    }
    let mut taken = Vec::with_capacity(subjects.len());
    for subject in &mut *subjects {
        let counts = protocol.counts(estimate(*subject, clock, stop)?)?;
        let no_verdict = counts.no_verdict.clone();
        let rounds = vec![Vec::new(); protocol.rounds as usize];
        taken.push(Taken { rounds, elapsed: Duration::ZERO, no_verdict, counts });
    }
    for turn in schedule(subjects.len(), protocol.rounds, protocol.turns) {
        let start = clock.now();
        take_turn(subjects[turn.subject], &mut taken[turn.subject], turn, protocol, clock, stop)?;
        taken[turn.subject].elapsed += clock.now() - start;
    }
    Ok(taken)
}

/// The interval of one sample: median of a few, each measured as it will be later, so flush and reset stay out.
fn estimate(subject: &mut dyn Subject, clock: &dyn Clock, stop: &Interrupt) -> Result<f64, SampleError> {
    let start = clock.now();
    let mut samples = Vec::with_capacity(ESTIMATE_SAMPLES);
    while samples.len() < ESTIMATE_SAMPLES {
        samples.push(sample(subject, stop)?.completion_us);
        if clock.now() - start >= ESTIMATE_TIME {
            break;
        }
    }
    // The first call touches its memory for the first time; it counts only if it is all there is.
    let settled = if samples.len() > 1 { &samples[1..] } else { &samples[..] };
    // A sample that is no time is reported by the count as the estimate that it is.
    Ok(stats::median(settled).unwrap_or(f64::NAN) * subject.calls() as f64)
}

fn take_turn(
    subject: &mut dyn Subject,
    taken: &mut Taken,
    turn: Turn,
    protocol: &Protocol,
    clock: &dyn Clock,
    stop: &Interrupt,
) -> Result<(), SampleError> {
    if protocol.cooldown_s > 0.0 {
        clock.sleep(Duration::from_secs_f64(protocol.cooldown_s));
    }
    let share = turn.share.of(taken.counts.samples);
    let start = clock.now();
    // Preparing a cold sample may take a thousand times the call, so warming up has the limit of its budget in real
    // time: past it the device has been busy for as long as was asked.
    let time = |ms: f64| Duration::from_micros(turn.share.of((ms * 1e3) as u64));
    let warm_until = start + time(protocol.warmup_ms.max(protocol.repeat_ms / 4.0));
    for _ in 0..turn.share.of(taken.counts.warmup) {
        sample(subject, stop)?;
        if clock.now() >= warm_until {
            break;
        }
    }
    let start = clock.now();
    let fewest = turn.share.of(protocol.min_samples);
    let limit = time(protocol.limit_ms);
    let patience = limit.min(time(protocol.repeat_ms * protocol.patience));
    let round = &mut taken.rounds[turn.round as usize];
    for i in 0..share {
        round.push(sample(subject, stop)?);
        let allowed = if i + 1 < fewest { limit } else { patience };
        // An exact count was asked for and is kept.
        if protocol.iterations.is_none() && i + 1 < share && clock.now() - start >= allowed {
            tracing::debug!(round = turn.round, taken = i + 1, planned = share, "time limit reached");
            if i + 1 < fewest && taken.no_verdict.is_none() {
                taken.no_verdict = Some(format!(
                    "round {} reached the limit of {} ms after {} of at least {} samples",
                    turn.round,
                    protocol.limit_ms,
                    round.len(),
                    protocol.min_samples
                ));
            }
            break;
        }
    }
    Ok(())
}

fn sample(subject: &mut dyn Subject, stop: &Interrupt) -> Result<Sample, SampleError> {
    if stop.requested() {
        return Err(SampleError::Interrupted);
    }
    subject.before_sample()?;
    Ok(subject.sample()?)
}

#[cfg(test)]
mod tests;
