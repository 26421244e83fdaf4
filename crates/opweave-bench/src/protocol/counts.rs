// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From budgets to counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Protocol;

/// How many calls one implementation makes in each round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The estimate that the counts come from: the timed interval of one sample, without flush and reset. Zero where they are
    /// fixed.
    pub estimate_us: f64,
    /// Untimed samples before each turn.
    pub warmup: u64,
    /// Timed samples of each round.
    pub samples: u64,
    /// Why no verdict may rest on so few samples, if so.
    pub no_verdict: Option<String>,
}

/// An estimate that is no time.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("plan the number of samples from an estimate of {estimate_us} us: it must be finite and not negative")]
pub struct CountError {
    /// The offending value.
    pub estimate_us: f64,
}

impl Protocol {
    /// Turns the budgets into counts.
    ///
    /// # Errors
    /// The estimate is NaN, infinite or negative. Zero is legal - a clock may be too coarse - and gives the upper bound.
    pub fn counts(&self, estimate_us: f64) -> Result<Counts, CountError> {
        if !(estimate_us >= 0.0 && estimate_us.is_finite()) {
            return Err(CountError { estimate_us });
        }
        let fits = |ms: f64| {
            let n = (ms * 1e3 / estimate_us).floor();
            // 0 / 0 is the one way to a NaN here: no budget means no call.
            if n.is_nan() { 0 } else { n.min(self.max_samples as f64) as u64 }
        };
        if let Some(samples) = self.iterations {
            // An exact count asks for exactly that; warming up as often, within reason, still settles the caches.
            let no_verdict = (samples < 2).then(|| "1 sample leaves the spread unknown".to_owned());
            return Ok(Counts { estimate_us, warmup: samples.min(self.min_samples), samples, no_verdict });
        }
        let within_limit = fits(self.limit_ms).max(1);
        let samples = fits(self.repeat_ms).max(self.min_samples).min(within_limit);
        let no_verdict = (samples < self.min_samples).then(|| {
            format!(
                "a call takes {:.0} ms: {samples} of {} samples fit the limit of {} ms",
                estimate_us / 1e3,
                self.min_samples,
                self.limit_ms
            )
        });
        // A call too slow for its samples was warmed by the estimate.
        let warmup = if no_verdict.is_some() { 0 } else { fits(self.warmup_ms).max(u64::from(self.warmup_ms > 0.0)) };
        Ok(Counts { estimate_us, warmup, samples, no_verdict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_budget(repeat_ms: f64) -> Protocol {
        Protocol { repeat_ms, ..Protocol::default() }
    }

    #[test]
    fn counts_are_bounded_on_both_sides() {
        let p = with_budget(3000.0);
        // estimate in ms, samples, verdict possible
        for (estimate_ms, samples, verdict) in
            [(0.0552, 54_347, true), (0.0, 100_000, true), (1e-9, 100_000, true), (5000.0, 1, false)]
        {
            let counts = p.counts(estimate_ms * 1e3).unwrap();
            assert_eq!(
                (counts.samples, counts.no_verdict.is_none()),
                (samples, verdict),
                "{estimate_ms} ms: {counts:?}"
            );
        }
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(p.counts(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_slow_call_keeps_ten_samples_while_they_fit() {
        let p = with_budget(100.0);
        assert_eq!(p.counts(50_000.0).unwrap().samples, 10);
        assert_eq!(p.counts(500_000.0).unwrap().samples, 10);
        let few = p.counts(1_200_000.0).unwrap();
        assert_eq!(few.samples, 4);
        assert_eq!(few.no_verdict.as_deref(), Some("a call takes 1200 ms: 4 of 10 samples fit the limit of 5000 ms"));
    }

    #[test]
    fn a_call_longer_than_the_limit_keeps_one_sample() {
        let counts = Protocol::default().counts(9e6).unwrap();
        assert_eq!((counts.samples, counts.warmup, counts.no_verdict.is_some()), (1, 0, true));
    }

    #[test]
    fn no_warm_up_budget_means_no_warm_up() {
        let p = Protocol { warmup_ms: 0.0, ..Protocol::default() };
        assert_eq!(p.counts(3.0).unwrap().warmup, 0);
        assert_eq!(p.counts(0.0).unwrap().warmup, 0);
        assert_eq!(Protocol::default().counts(3.0).unwrap().warmup, 8333);
        assert_eq!(Protocol::default().counts(30_000.0).unwrap().warmup, 1);
    }

    #[test]
    fn an_exact_count_is_exact() {
        let p = Protocol { iterations: Some(3), ..Protocol::default() };
        assert_eq!(p.counts(0.001).unwrap().samples, 3);
        assert_eq!(p.counts(9e6).unwrap().samples, 3);
        assert!(Protocol { iterations: Some(1), ..p }.counts(1.0).unwrap().no_verdict.is_some());
    }
}
