// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::*;
use crate::measurement::{Cache, Kind, Measurement, Metric, Scope, Timer};

/// A clock that only moves when a synthetic call takes time.
#[derive(Clone, Default)]
struct Synthetic {
    now: Rc<Cell<Duration>>,
    slept: Rc<Cell<Duration>>,
    log: Rc<RefCell<String>>,
    calls: Rc<Cell<u64>>,
}

impl Clock for Synthetic {
    fn now(&self) -> Duration {
        self.now.get()
    }
    fn sleep(&self, rest: Duration) {
        self.slept.set(self.slept.get() + rest);
    }
}

/// A call whose time is a function of how many calls the device has made.
struct Call<F> {
    name: char,
    time: F,
    flush_us: f64,
    clock: Synthetic,
}

impl<F: FnMut(u64) -> f64> Subject for Call<F> {
    fn before_sample(&mut self) -> Result<(), SubjectError> {
        self.clock.now.set(self.clock.now.get() + Duration::from_secs_f64(self.flush_us / 1e6));
        Ok(())
    }
    fn sample(&mut self) -> Result<Sample, SubjectError> {
        let us = (self.time)(self.clock.calls.get());
        self.clock.calls.set(self.clock.calls.get() + 1);
        self.clock.log.borrow_mut().push(self.name);
        if us.is_finite() {
            self.clock.now.set(self.clock.now.get() + Duration::from_secs_f64(us / 1e6));
        }
        Ok(Sample::completion(us))
    }
}

fn one(protocol: &Protocol, flush_us: f64, time: impl FnMut(u64) -> f64) -> Result<Taken, SampleError> {
    let clock = Synthetic::default();
    let mut call = Call { name: 'A', time, flush_us, clock: clock.clone() };
    measure(&mut [&mut call], protocol, &clock, &Interrupt::default()).map(|mut t| t.remove(0))
}

#[test]
fn every_round_takes_the_planned_samples() {
    let taken = one(&Protocol::default(), 0.0, |_| 50.0).unwrap();
    assert_eq!(taken.rounds.iter().map(Vec::len).collect::<Vec<_>>(), [2000; 5]);
    assert_eq!((taken.counts.estimate_us, taken.no_verdict), (50.0, None));
}

#[test]
fn the_turns_of_each_implementation_have_a_time_of_their_own() {
    let clock = Synthetic::default();
    let protocol = Protocol { rounds: 3, ..Protocol::default() };
    let mut fast = Call { name: 'A', time: |_| 50.0, flush_us: 10.0, clock: clock.clone() };
    let mut slow = Call { name: 'B', time: |_| 200.0, flush_us: 10.0, clock: clock.clone() };
    let taken = measure(&mut [&mut fast, &mut slow], &protocol, &clock, &Interrupt::default()).unwrap();
    let log = clock.log.borrow();
    for (taken, name, each) in [(&taken[0], 'A', 60), (&taken[1], 'B', 210)] {
        // All that is in the log but the estimate: warming up and flushing count.
        let samples = log.chars().filter(|&c| c == name).count() - ESTIMATE_SAMPLES;
        assert!(samples > taken.rounds.iter().map(Vec::len).sum(), "{name} warms up");
        assert_eq!(taken.elapsed, Duration::from_micros(each) * samples as u32, "{name}");
    }
}

#[test]
fn the_estimate_leaves_out_the_flush_and_the_first_call() {
    let taken = one(&Protocol::default(), 1000.0, |call| if call == 0 { 9000.0 } else { 50.0 }).unwrap();
    assert_eq!(taken.counts.estimate_us, 50.0);
    assert_eq!(taken.counts.samples, 2000);
    // Two samples are all that fit here, and the first is the one that touches its memory for the first time.
    let taken = one(&Protocol::default(), 0.0, |call| if call == 0 { 15_000.0 } else { 6000.0 }).unwrap();
    assert_eq!(taken.counts.estimate_us, 6000.0);
}

#[test]
fn budgets_are_for_samples_not_for_the_calls_inside_them() {
    struct Batch(Synthetic);
    impl Subject for Batch {
        fn calls(&self) -> usize {
            64
        }
        fn before_sample(&mut self) -> Result<(), SubjectError> {
            Ok(())
        }
        fn sample(&mut self) -> Result<Sample, SubjectError> {
            self.0.now.set(self.0.now.get() + Duration::from_micros(640));
            Ok(Sample::completion(10.0))
        }
    }
    let clock = Synthetic::default();
    let protocol = Protocol { repeat_ms: 64.0, rounds: 1, ..Protocol::default() };
    let taken = measure(&mut [&mut Batch(clock.clone())], &protocol, &clock, &Interrupt::default()).unwrap();
    assert_eq!((taken[0].counts.estimate_us, taken[0].rounds[0].len()), (640.0, 100));
}

#[test]
fn the_limit_ends_a_round_and_keeps_what_it_has() {
    // 2000 samples are planned; with 6 ms of flush each, four times the budget of 100 ms hold 66.
    let taken = one(&Protocol::default(), 6000.0, |_| 50.0).unwrap();
    assert!(taken.rounds.iter().all(|r| r.len() == 67), "{}", taken.rounds[0].len());
    assert_eq!(taken.no_verdict, None, "so many samples carry a verdict");
    // The fewest samples of a round are taken however long that is, up to the limit of 5 s.
    let taken = one(&Protocol::default(), 100_000.0, |_| 50.0).unwrap();
    assert!(taken.rounds.iter().all(|r| r.len() == 10), "{}", taken.rounds[0].len());
    assert_eq!(taken.no_verdict, None);
    // An exact count has neither.
    let exact = Protocol { iterations: Some(300), ..Protocol::default() };
    assert_eq!(one(&exact, 100_000.0, |_| 50.0).unwrap().rounds[0].len(), 300);

    let taken = one(&Protocol::default(), 900_000.0, |_| 50.0).unwrap();
    assert_eq!(taken.rounds[0].len(), 6);
    assert_eq!(
        taken.no_verdict.as_deref(),
        Some("round 0 reached the limit of 5000 ms after 6 of at least 10 samples")
    );
}

#[test]
fn a_very_slow_call_keeps_one_sample_and_gets_no_verdict() {
    let taken = one(&Protocol { rounds: 1, ..Protocol::default() }, 0.0, |_| 5e6).unwrap();
    assert_eq!(taken.rounds, [[Sample::completion(5e6)]]);
    assert!(taken.no_verdict.is_some());
}

#[test]
fn awkward_distributions_end() {
    let p = Protocol { rounds: 1, ..Protocol::default() };
    let bimodal = one(&p, 0.0, |i| if i % 2 == 0 { 10.0 } else { 14.0 }).unwrap();
    assert!(bimodal.rounds[0].len() > 5000);
    assert_eq!(one(&p, 0.0, |_| 0.0).unwrap().rounds[0].len(), 100_000);
    assert!(matches!(one(&p, 0.0, |_| f64::NAN), Err(SampleError::Count(_))));
}

#[test]
fn drift_does_not_make_a_difference_between_equals() {
    let clock = Synthetic::default();
    let call = |name| Call { name, time: |i: u64| 1000.0 + 2.0 * i as f64, flush_us: 0.0, clock: clock.clone() };
    let (mut a, mut b) = (call('A'), call('B'));
    let p = Protocol { iterations: Some(32), ..Protocol::default() };
    let taken = measure(&mut [&mut a, &mut b], &p, &clock, &Interrupt::default()).unwrap();
    let kind = Kind { timer: Timer::Wall, scope: Scope::KernelOnly, metric: Metric::Completion, cache: Cache::Hot };
    let values: Vec<Measurement> = taken
        .iter()
        .map(|t| {
            let rounds = t.rounds.iter().map(|r| r.iter().map(|s| s.completion_us).collect()).collect();
            Measurement::new(kind, rounds, None).unwrap()
        })
        .collect();
    let difference = values[1].impl_us / values[0].impl_us - 1.0;
    assert!(difference.abs() < 1e-3, "{difference}");
    assert!(values.iter().all(|m| m.trend.is_some_and(|t| t.drifting)), "the drift itself is reported");
    let order: String = clock.log.borrow().chars().skip(14).fold(String::new(), |mut s, c| {
        if !s.ends_with(c) {
            s.push(c);
        }
        s
    });
    // Neighbours joined, also those of two rounds.
    assert_eq!(order, "AB".repeat(5 * 8) + "A", "A B B A, 8 times in each of 5 rounds");
}

#[test]
fn cooldown_comes_before_each_turn() {
    let clock = Synthetic::default();
    let mut call = Call { name: 'A', time: |_| 100.0, flush_us: 0.0, clock: clock.clone() };
    let p = Protocol { cooldown_s: 2.0, rounds: 3, ..Protocol::default() };
    measure(&mut [&mut call], &p, &clock, &Interrupt::default()).unwrap();
    assert_eq!(clock.slept.get(), Duration::from_secs(6));
}

#[test]
fn an_interrupt_ends_before_the_next_sample() {
    let clock = Synthetic::default();
    let stop = Interrupt::default();
    let mut call = Call {
        name: 'A',
        time: |i| {
            if i == 30 {
                stop.request();
            }
            50.0
        },
        flush_us: 0.0,
        clock: clock.clone(),
    };
    let result = measure(&mut [&mut call], &Protocol::default(), &clock, &stop);
    assert!(matches!(result, Err(SampleError::Interrupted)));
    assert_eq!(clock.calls.get(), 31);
}

#[test]
fn nothing_to_time_is_an_error() {
    let clock = Synthetic::default();
    assert!(matches!(measure(&mut [], &Protocol::default(), &clock, &Interrupt::default()), Err(SampleError::Nothing)));
}
