// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether samples drift over the run (a device that heats up, a clock that falls).
//!
//! The Mann-Kendall test asks how many pairs of samples rise against how many fall. It needs no distribution and one
//! outlier cannot decide it. Pairs are quadratic in number, so a long series is first reduced to medians of equal
//! stretches, which also removes the noise that is not drift.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantile::median_of_sorted;

/// Stretches a series is reduced to: enough for the normal approximation, few enough for all pairs.
const STRETCHES: usize = 50;
/// Two-sided 1 %: a run has many series, and one in twenty flagged for nothing would train people to ignore the flag.
const CRITICAL_Z: f64 = 2.576;
/// Below this a trend is real perhaps, but changes no verdict.
const NEGLIGIBLE: f64 = 0.01;

/// Outcome of the trend test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// Last stretch against the first, minus 1: `0.18` says that the run ended 18 % slower than it began.
    pub change: f64,
    /// The change is larger than 1 % and the test finds it significant at 1 %.
    pub drifting: bool,
}

/// Tests samples in the order in which they were taken; fewer than 10 say nothing.
#[must_use]
pub fn trend(samples_us: &[f64]) -> Option<Trend> {
    if samples_us.len() < 10 {
        return None;
    }
    let stretches = STRETCHES.min(samples_us.len());
    let values: Vec<f64> = (0..stretches)
        .map(|i| {
            let range = i * samples_us.len() / stretches..(i + 1) * samples_us.len() / stretches;
            let mut part = samples_us[range].to_vec();
            part.sort_by(f64::total_cmp);
            median_of_sorted(&part)
        })
        .collect();
    // Fifths at both ends, so that one stretch does not stand for the whole end.
    let end = (stretches / 5).max(1);
    let middle = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        median_of_sorted(&part)
    };
    let (first, last) = (middle(&values[..end]), middle(&values[stretches - end..]));
    // A first end of zero has no relative change; a clock too coarse for the call shows up as such elsewhere.
    let change = if first > 0.0 { last / first - 1.0 } else { 0.0 };
    Some(Trend { change, drifting: change.abs() > NEGLIGIBLE && mann_kendall_z(&values).abs() > CRITICAL_Z })
}

fn mann_kendall_z(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mut rising = 0_i64;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            rising += i64::from(b > a) - i64::from(b < a);
        }
    }
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    // One step toward zero: the count is discrete, the normal distribution is not.
    (rising - rising.signum()) as f64 / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rise_is_flagged() {
        let samples: Vec<f64> = (0..200).map(|i| 1.0 + 0.002 * f64::from(i)).collect();
        let t = trend(&samples).unwrap();
        assert!(t.drifting && t.change > 0.25, "{t:?}");
    }

    #[test]
    fn two_modes_an_outlier_and_a_constant_are_not() {
        let bimodal: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 10.0 } else { 14.0 }).collect();
        let mut outlier = vec![10.0; 1000];
        outlier[500] = 5000.0;
        for samples in [bimodal, outlier, vec![3.0; 10], vec![0.0; 100]] {
            let t = trend(&samples).unwrap();
            assert!(!t.drifting && t.change.is_finite(), "{t:?}");
        }
    }

    #[test]
    fn nine_samples_say_nothing() {
        assert_eq!(trend(&[1.0; 9]), None);
    }
}
