// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the device reaches at most, measured in the same run.
//!
//! A share of a data sheet's number says little: no kernel reaches it, and a virtual machine even less. The ceiling of a
//! row is what the device's own plain kernels need for the **same bytes read and written** - the written bytes are
//! copied, reads beyond them are only read - in the same cache state and with the same protocol. Each pair of sizes is
//! measured once.

use opweave_numerics::Interrupt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::Cache;
use crate::protocol::Protocol;
use crate::report::Work;
use crate::sampler::{Clock, SampleError, Subject, SubjectError, measure};
use crate::stats;

/// Plain kernels of a device, ready to be timed.
pub trait Probe {
    /// A subject that reads and writes exactly so many bytes with the device's best plain kernels.
    ///
    /// # Errors
    /// Memory cannot be had, or the device refuses.
    fn transfer(
        &mut self,
        bytes_read: u64,
        bytes_written: u64,
        cache: Cache,
    ) -> Result<Box<dyn Subject + '_>, SubjectError>;

    /// A subject that computes with operands in registers, and its number of floating-point operations.
    ///
    /// # Errors
    /// The device refuses.
    fn multiply_add(&mut self) -> Result<(Box<dyn Subject + '_>, u64), SubjectError>;
}

/// All ceilings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ceilings {
    /// One entry per pair of sizes, in the order of measuring.
    pub points: Vec<Point>,
    /// Rate of multiply-adds with operands in registers, all threads, 10^9 operations per second.
    pub multiply_add_gflop_per_s: Option<f64>,
}

/// The ceiling at one pair of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// `copy`, `read`, or `mixed`.
    pub pattern: String,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Time with the data wherever the last call left it, median of the best round.
    pub hot_us: Option<f64>,
    /// Time with the data in memory, median of the best round.
    pub cold_us: Option<f64>,
}

impl Point {
    /// Rate in 10^9 bytes per second.
    #[must_use]
    pub fn gb_per_s(&self, cache: Cache) -> Option<f64> {
        let us = match cache {
            Cache::Hot => self.hot_us,
            Cache::Cold => self.cold_us,
        };
        us.filter(|us| *us > 0.0).map(|us| gb_per_s(self.bytes_read + self.bytes_written, us))
    }
}

/// Bytes in microseconds as 10^9 bytes per second.
#[must_use]
pub fn gb_per_s(bytes: u64, us: f64) -> f64 {
    bytes as f64 / us / 1e3
}

impl Ceilings {
    /// The rate at these bytes, if it was measured.
    #[must_use]
    pub fn rate(&self, work: Work, cache: Cache) -> Option<f64> {
        self.find(work)?.gb_per_s(cache)
    }

    fn find(&self, work: Work) -> Option<&Point> {
        self.points.iter().find(|p| (p.bytes_read, p.bytes_written) == (work.bytes_read, work.bytes_written))
    }

    /// Measures the rate at these bytes unless it is there already, and returns it.
    ///
    /// # Errors
    /// The probe fails or the run is interrupted. Work without bytes has no ceiling and is `None`.
    pub fn ensure(
        &mut self,
        probe: &mut dyn Probe,
        work: Work,
        cache: Cache,
        clock: &dyn Clock,
        stop: &Interrupt,
    ) -> Result<Option<f64>, SampleError> {
        if work.bytes() == 0 {
            return Ok(None);
        }
        if let Some(rate) = self.rate(work, cache) {
            return Ok(Some(rate));
        }
        let us = {
            let mut subject = probe.transfer(work.bytes_read, work.bytes_written, cache)?;
            best_of(&mut *subject, clock, stop)?
        };
        if self.find(work).is_none() {
            self.points.push(Point {
                pattern: pattern(work).to_owned(),
                bytes_read: work.bytes_read,
                bytes_written: work.bytes_written,
                hot_us: None,
                cold_us: None,
            });
        }
        let same = |p: &&mut Point| (p.bytes_read, p.bytes_written) == (work.bytes_read, work.bytes_written);
        if let Some(point) = self.points.iter_mut().find(same) {
            match cache {
                Cache::Hot => point.hot_us = us,
                Cache::Cold => point.cold_us = us,
            }
        }
        Ok(self.rate(work, cache))
    }

    /// Measures the multiply-add rate.
    ///
    /// # Errors
    /// The probe fails or the run is interrupted.
    pub fn measure_multiply_add(
        &mut self,
        probe: &mut dyn Probe,
        clock: &dyn Clock,
        stop: &Interrupt,
    ) -> Result<(), SampleError> {
        let (mut subject, flops) = probe.multiply_add()?;
        let us = best_of(&mut *subject, clock, stop)?;
        self.multiply_add_gflop_per_s = us.map(|us| flops as f64 / us / 1e3);
        Ok(())
    }
}

fn pattern(work: Work) -> &'static str {
    match (work.bytes_read, work.bytes_written) {
        (r, w) if r == w => "copy",
        (_, 0) => "read",
        _ => "mixed",
    }
}

/// The best of three short rounds. A ceiling is what the device can do: whatever disturbed a round did not raise it.
fn best_of(subject: &mut dyn Subject, clock: &dyn Clock, stop: &Interrupt) -> Result<Option<f64>, SampleError> {
    let protocol = Protocol { warmup_ms: 2.0, repeat_ms: 10.0, rounds: 3, ..Protocol::default() };
    let taken = measure(&mut [subject], &protocol, clock, stop)?;
    let rounds = taken.iter().flat_map(|t| &t.rounds);
    let medians = rounds.filter_map(|round| {
        let samples: Vec<f64> = round.iter().map(|s| s.completion_us).collect();
        stats::median(&samples).ok()
    });
    // A clock too coarse for the size gives zero, which is no rate.
    Ok(medians.min_by(f64::total_cmp).filter(|us| *us > 0.0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sampler::Sample;

    struct Frozen;
    impl Clock for Frozen {
        fn now(&self) -> Duration {
            Duration::ZERO
        }
        fn sleep(&self, _: Duration) {}
    }

    struct Fixed(f64);
    impl Subject for Fixed {
        fn before_sample(&mut self) -> Result<(), SubjectError> {
            Ok(())
        }
        fn sample(&mut self) -> Result<Sample, SubjectError> {
            Ok(Sample::completion(self.0))
        }
    }

    /// Reads at 20 GB/s and writes at 10 when cold, ten times that when hot.
    #[derive(Default)]
    struct Fake(usize);
    impl Probe for Fake {
        fn transfer(&mut self, r: u64, w: u64, cache: Cache) -> Result<Box<dyn Subject + '_>, SubjectError> {
            self.0 += 1;
            let us = r as f64 / 20e3 + w as f64 / 10e3;
            Ok(Box::new(Fixed(if cache == Cache::Hot { us / 10.0 } else { us })))
        }
        fn multiply_add(&mut self) -> Result<(Box<dyn Subject + '_>, u64), SubjectError> {
            Ok((Box::new(Fixed(100.0)), 8_000_000))
        }
    }

    #[test]
    fn a_ceiling_is_measured_once_per_pair_of_sizes_and_cache_state() {
        let (mut c, mut probe) = (Ceilings::default(), Fake::default());
        let work = Work { bytes_read: 4_000_000, bytes_written: 2_000_000, flops: 0 };
        for cache in [Cache::Cold, Cache::Hot, Cache::Cold] {
            let rate = c.ensure(&mut probe, work, cache, &Frozen, &Interrupt::default()).unwrap().unwrap();
            let want = if cache == Cache::Hot { 150.0 } else { 15.0 };
            assert!((rate - want).abs() < 1e-9, "{rate}");
        }
        assert_eq!((probe.0, c.points.len(), c.points[0].pattern.as_str()), (2, 1, "mixed"));
        // The same total in other shares has another ceiling.
        let other = Work { bytes_read: 3_000_000, bytes_written: 3_000_000, flops: 0 };
        let rate = c.ensure(&mut probe, other, Cache::Cold, &Frozen, &Interrupt::default()).unwrap().unwrap();
        assert!((rate - 6e6 / 450.0 / 1e3).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn a_disturbed_round_does_not_lower_the_ceiling() {
        /// Twice as slow in the calls of the second of three rounds.
        struct Disturbed(u32);
        impl Subject for Disturbed {
            fn before_sample(&mut self) -> Result<(), SubjectError> {
                Ok(())
            }
            fn sample(&mut self) -> Result<Sample, SubjectError> {
                self.0 += 1;
                // 7 of the estimate, then 5 and 20 in each round.
                let slow = (32..57).contains(&self.0);
                Ok(Sample::completion(if slow { 2000.0 } else { 1000.0 }))
            }
        }
        assert_eq!(best_of(&mut Disturbed(0), &Frozen, &Interrupt::default()).unwrap(), Some(1000.0));
    }

    #[test]
    fn no_bytes_have_no_ceiling_and_a_coarse_clock_gives_none() {
        let (mut c, mut probe) = (Ceilings::default(), Fake::default());
        assert_eq!(c.ensure(&mut probe, Work::default(), Cache::Hot, &Frozen, &Interrupt::default()).unwrap(), None);
        assert_eq!(best_of(&mut Fixed(0.0), &Frozen, &Interrupt::default()).unwrap(), None);
    }

    #[test]
    fn the_multiply_add_rate_is_operations_over_time() {
        let mut c = Ceilings::default();
        c.measure_multiply_add(&mut Fake::default(), &Frozen, &Interrupt::default()).unwrap();
        assert_eq!(c.multiply_add_gflop_per_s, Some(80.0));
    }
}
