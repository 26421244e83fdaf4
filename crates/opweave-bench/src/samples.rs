// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The samples of a series as a report keeps them: every one of them, in little space.
//!
//! A call of a microsecond has half a million samples, which differ by a few ticks of the clock. So a long round is kept
//! twice: all samples sorted and counted, from which its statistics can be computed again, and evenly thinned in the order
//! of measuring, which shows how the time moved. A short round is kept whole, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The most samples of a round that are kept in order.
const IN_ORDER: usize = 256;

/// The most samples that a round can be read with: a report is a file that anybody may have written.
const MOST: u64 = 10_000_000;

/// The samples of all rounds, in ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// Ticks in a microsecond: 1000, or a million where a sample is below one microsecond.
    pub ticks_per_us: u32,
    /// Each round.
    pub rounds: Vec<Round>,
}

/// The samples of one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// How many samples the round has.
    pub n: u64,
    /// Every how manieth sample is in `in_order`: 1 is all of them.
    pub every: u64,
    /// Samples in the order of measuring, the first one first.
    pub in_order: Vec<u64>,
    /// Where `every` is not 1, all samples, sorted: how many ticks a value lies above the one before it, and how often it
    /// was measured, in turns.
    pub counted: Vec<u64>,
}

/// Samples that contradict themselves.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("read the samples of round {round}: {what}")]
pub struct SamplesError {
    /// The round, from 0.
    pub round: usize,
    /// What is wrong, with the offending value and the legal set.
    pub what: String,
}

impl Samples {
    /// Keeps samples in microseconds, each finite and not negative, to the digits of the clock.
    pub(crate) fn keep(rounds_us: &[Vec<f64>]) -> Samples {
        // The time of many calls divided by their number is finer than a clock's nanosecond.
        let fine = rounds_us.iter().flatten().any(|&us| us < 1.0);
        let ticks_per_us = if fine { 1_000_000 } else { 1000 };
        let ticks = |us: &f64| (us * f64::from(ticks_per_us)).round() as u64;
        let rounds = rounds_us.iter().map(|round| Round::keep(&round.iter().map(ticks).collect::<Vec<_>>()));
        Samples { ticks_per_us, rounds: rounds.collect() }
    }

    /// Every sample of each round, in microseconds; in order where the round was kept so, else sorted.
    ///
    /// # Errors
    /// [`SamplesError`].
    pub fn rounds_us(&self) -> Result<Vec<Vec<f64>>, SamplesError> {
        let refuse = |round, what| Err(SamplesError { round, what });
        if ![1000, 1_000_000].contains(&self.ticks_per_us) {
            return refuse(0, format!("ticks_per_us is {}, it is 1000 or 1000000", self.ticks_per_us));
        }
        let mut all = Vec::with_capacity(self.rounds.len());
        for (at, round) in self.rounds.iter().enumerate() {
            let ticks = match round.ticks() {
                Ok(ticks) => ticks,
                Err(what) => return refuse(at, what),
            };
            all.push(ticks.iter().map(|&ticks| ticks as f64 / f64::from(self.ticks_per_us)).collect());
        }
        Ok(all)
    }
}

impl Round {
    fn keep(ticks: &[u64]) -> Round {
        let n = ticks.len();
        let every = n.div_ceil(IN_ORDER).max(1);
        let in_order = ticks.iter().step_by(every).copied().collect();
        let mut counted = Vec::new();
        if every > 1 {
            let mut sorted = ticks.to_vec();
            sorted.sort_unstable();
            let mut before = 0;
            for same in sorted.chunk_by(|a, b| a == b) {
                counted.extend([same[0] - before, same.len() as u64]);
                before = same[0];
            }
        }
        Round { n: n as u64, every: every as u64, in_order, counted }
    }

    /// Every sample.
    fn ticks(&self) -> Result<Vec<u64>, String> {
        if self.n > MOST {
            return Err(format!("n is {}, at most {MOST} are read", self.n));
        }
        if self.every == 0 || self.in_order.len() as u64 != self.n.div_ceil(self.every.max(1)) {
            let (every, kept) = (self.every, self.in_order.len());
            return Err(format!("in_order has {kept} samples, which is not every {every}. of {}", self.n));
        }
        if self.every == 1 {
            return if self.counted.is_empty() {
                Ok(self.in_order.clone())
            } else {
                Err("counted is not empty though every sample is in_order".to_owned())
            };
        }
        let (mut value, mut all) = (0_u64, Vec::with_capacity(self.n as usize));
        for (at, pair) in self.counted.chunks(2).enumerate() {
            let &[step, times] = pair else { return Err("counted has a value without its count".to_owned()) };
            value = value.checked_add(step).ok_or_else(|| format!("value {at} of counted is past 2^64"))?;
            if times == 0 || (step == 0 && at > 0) || times > self.n - all.len() as u64 {
                return Err(format!(
                    "value {at} of counted is {step} above the last, {times} times, of {} in all",
                    self.n
                ));
            }
            all.resize(all.len() + times as usize, value);
        }
        if all.len() as u64 != self.n {
            return Err(format!("counted has {} samples of {}", all.len(), self.n));
        }
        match self.in_order.iter().find(|ticks| all.binary_search(ticks).is_err()) {
            Some(stray) => Err(format!("in_order has {stray}, which counted has not")),
            None => Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn long() -> Vec<f64> {
        (0..5000).map(|i| 4.77 + f64::from((i * 7919) % 13) / 1000.0).collect()
    }

    #[test]
    fn a_short_round_is_whole_and_in_order_and_a_long_one_is_counted() {
        let kept = Samples::keep(&[vec![3.0, 1.0, 2.5], long()]);
        assert_eq!((kept.ticks_per_us, kept.rounds[0].every), (1000, 1));
        assert_eq!((kept.rounds[0].in_order.as_slice(), kept.rounds[0].counted.len()), (&[3000, 1000, 2500][..], 0));
        let round = &kept.rounds[1];
        assert_eq!((round.n, round.every, round.in_order.len(), round.counted.len()), (5000, 20, 250, 26));
        let text = serde_json::to_string(&kept).unwrap();
        assert!(text.len() < 5000, "{} bytes", text.len());
        let expanded = kept.rounds_us().unwrap();
        assert_eq!(expanded[0], [3.0, 1.0, 2.5]);
        let mut sorted = long();
        sorted.sort_by(f64::total_cmp);
        assert!(expanded[1].iter().zip(&sorted).all(|(kept, was)| (kept - was).abs() < 1e-9));
        assert_eq!(expanded[1].len(), sorted.len());
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let good = Samples::keep(&[long()]);
        let bad = |change: &dyn Fn(&mut Samples)| {
            let mut edited = good.clone();
            change(&mut edited);
            edited.rounds_us().unwrap_err().what
        };
        assert!(bad(&|s| s.ticks_per_us = 0).contains("it is 1000 or 1000000"));
        assert!(bad(&|s| s.rounds[0].n = 4999).contains("of 4999 in all"));
        assert!(bad(&|s| s.rounds[0].n = u64::MAX).contains("at most 10000000 are read"));
        assert!(bad(&|s| s.rounds[0].every = 0).contains("not every 0."));
        assert!(bad(&|s| s.rounds[0].in_order.truncate(249)).contains("in_order has 249 samples"));
        assert!(bad(&|s| s.rounds[0].in_order[7] += 100).contains("which counted has not"));
        assert!(bad(&|s| s.rounds[0].counted.truncate(25)).contains("without its count"));
        assert!(bad(&|s| s.rounds[0].counted[1] -= 1).contains("counted has 4999 samples of 5000"));
        assert!(bad(&|s| s.rounds[0].counted[1] = u64::MAX).contains("of 5000 in all"));
        assert!(bad(&|s| s.rounds[0].counted[2] = u64::MAX).contains("past 2^64"));
        let never = |s: &mut Samples| {
            let counted = &mut s.rounds[0].counted;
            counted[1] += counted[3];
            counted[3] = 0;
        };
        assert!(bad(&never).contains("1 above the last, 0 times"));
        assert!(bad(&|s| s.rounds[0].counted[2] = 0).contains("0 above the last"));
        let whole = Samples::keep(&[vec![1.0]]);
        let mut edited = whole.clone();
        edited.rounds[0].counted = vec![1000, 1];
        assert!(edited.rounds_us().is_err() && whole.rounds_us().is_ok());
    }

    proptest! {
        #[test]
        fn samples_come_back(ticks in prop::collection::vec(prop::collection::vec(0..5_000_000_u64, 1..900), 1..4)) {
            let us: Vec<Vec<f64>> = ticks.iter().map(|r| r.iter().map(|&t| t as f64 / 1e6).collect()).collect();
            let back = Samples::keep(&us);
            prop_assert_eq!(back.ticks_per_us, if us.iter().flatten().any(|&v| v < 1.0) { 1_000_000 } else { 1000 });
            let again = Samples::keep(&back.rounds_us().unwrap());
            let counts = |s: &Samples| s.rounds.iter().map(|r| (r.n, r.counted.clone())).collect::<Vec<_>>();
            prop_assert_eq!(counts(&again), counts(&back));
        }
    }
}
